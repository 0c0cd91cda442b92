# shellcheck shell=bash
# Messages of the scripts, and commands whose output matters only when they fail.
# Sourced, never run.

# What messages start with: the name of the script that was called, or what it has set.
: "${program:=${0##*/}}"

# The output of quiet commands; empty until open_log.
log_file=

say() {
  printf '%s: %s\n' "$program" "$*"
}

# die MESSAGE [LINE ...]: says the message, then what to do about it, and exits with 1.
die() {
  say "$1" >&2
  shift
  (($# == 0)) || printf '  %s\n' "$@" >&2
  exit 1
}

open_log() {
  log_file=$(mktemp "${TMPDIR:-/tmp}/ai-$program.XXXXXX.log")
}

# quietly COMMAND ...: runs it with its output in the log; the caller looks at the exit code.
quietly() {
  printf '+ %s\n' "$*" >>"$log_file"
  "$@" >>"$log_file" 2>&1 </dev/null
}

# die_with_log MESSAGE [LINE ...]: shows the end of the log first; the whole log stays for reading.
die_with_log() {
  tail -n 15 "$log_file" | sed 's/^/  | /' >&2
  local kept=$log_file
  log_file=
  die "$@" "The whole log: $kept"
}

close_log() {
  [[ -z $log_file ]] || rm -f "$log_file"
}
