# shellcheck shell=bash disable=SC2154
# Waiting for a vectorizer, with a display of how far it is. Sourced, never run; needs lib/say.sh and
# session.sh.

readonly bar_width=30
# Without any progress for so long, something is wrong.
readonly patience=$((${DEMO_PATIENCE:-120} * 1000000))

on_terminal() {
  [[ -t 1 && ${TERM:-dumb} != dumb ]]
}

# The time; the decimal point of EPOCHREALTIME depends on the language.
microseconds() {
  printf '%s' "${EPOCHREALTIME/[^0-9]/}"
}

# seconds MICROSECONDS: with two decimals.
seconds() {
  printf '%d.%02d' $(($1 / 1000000)) $(($1 % 1000000 / 10000))
}

# bar DONE TOTAL
bar() {
  local filled=$((bar_width * $1 / $2)) full empty
  printf -v full '%*s' "$filled" ''
  printf -v empty '%*s' $((bar_width - filled)) ''
  printf '[%s%s]' "${full// /#}" "${empty// /.}"
}

# line DONE TOTAL ELAPSED: how far, how fast, how long still.
line() {
  local left='' rate=$((1000000 * $1 / ($3 + 1)))
  if (($1 > 0 && $1 < $2)); then
    left=", $(seconds $(($3 * ($2 - $1) / $1))) s left"
  fi
  printf '%3d of %d rows, %d rows/s%s' "$1" "$2" "$rate" "$left"
}

# On a terminal one line is drawn again and again; elsewhere there is a line for every quarter.
# shown is what the last line was about.
draw() {
  if on_terminal; then
    printf '\r  %s %s\e[K' "$(bar "$1" "$2")" "$(line "$@")"
  elif (($1 == $2 || 4 * $1 / $2 > 4 * shown / $2)); then
    printf '  %s\n' "$(line "$@")"
    shown=$1
  fi
}

# give_up NAME: says what the vectorizer complains of.
give_up() {
  ask "SELECT coalesce((SELECT message FROM ai.vectorizer_errors WHERE name = '$1'
    ORDER BY recorded DESC LIMIT 1), 'no error is recorded')"
  die "vectorizer $1 makes no progress: $answer" \
    'Look at ai.worker_status and at the log of the server.'
}

# pending NAME: sets left to the number of rows that are not up to date.
pending() {
  ask "SELECT ai.vectorizer_queue_pending('$1', true)"
  left=$answer
}

show_progress() {
  local left total began now moved before shown=0
  ask 'SELECT count(*) FROM note'
  total=$answer
  began=$(microseconds)
  moved=$began
  before=$total
  for (( ; ; )); do
    pending "$1"
    now=$(microseconds)
    draw $((total - left)) "$total" $((now - began))
    ((left > 0)) || break
    if ((left != before)); then
      before=$left
      moved=$now
    fi
    ((now - moved < patience)) || give_up "$1"
    sleep 0.1
  done
  if on_terminal; then
    printf '\n'
  fi
  printf '\n'
}

# wait_until_embedded NAME: as soon as can be seen.
wait_until_embedded() {
  local left began
  began=$(microseconds)
  for (( ; ; )); do
    pending "$1"
    ((left > 0)) || return 0
    (($(microseconds) - began < patience)) || give_up "$1"
  done
}
