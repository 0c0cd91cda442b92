# shellcheck shell=bash
# One psql that answers questions, so that none of them waits for a connection. Sourced, never run;
# needs lib/say.sh.

# What the last ask returned: the columns of its first row, with | between them.
answer=

from_session=
to_session=
session_pid=

open_session() {
  coproc session { psql -X -q -A -t -v ON_ERROR_STOP=1; }
  from_session=${session[0]}
  to_session=${session[1]}
  # shellcheck disable=SC2154  # bash sets it
  session_pid=$session_PID
}

# ask QUERY: one that returns a row. A failing one ends psql, which says why.
# shellcheck disable=SC2034  # the answer is for the caller
ask() {
  printf '%s;\n' "$1" >&"$to_session"
  IFS= read -r -u "$from_session" answer || die 'the database does not answer any more'
}

close_session() {
  exec {to_session}>&-
  wait "$session_pid"
}
