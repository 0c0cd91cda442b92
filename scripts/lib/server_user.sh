# shellcheck shell=bash
# The user that owns private servers: the caller, or a system user when root calls, since the server
# refuses to run as root. Sourced, never run.

# Prints the user's name.
server_user() {
  if [[ $(id -u) -ne 0 ]]; then
    id -un
  else
    id -un postgres 2>/dev/null || echo nobody
  fi
}

# as_server_user COMMAND ...
as_server_user() {
  if [[ $(id -u) -ne 0 ]]; then
    "$@"
  else
    runuser -u "$(server_user)" -- "$@"
  fi
}

# own_by_server_user PATH: hands a file or directory over to that user.
own_by_server_user() {
  [[ $(id -u) -ne 0 ]] || chown -R "$(server_user)" "$1"
}
