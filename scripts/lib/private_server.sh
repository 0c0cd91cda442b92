# shellcheck shell=bash
# A private server: own installation, data directory and socket below one temporary directory, no
# network port, not run as root. Sourced, never run; needs say.sh and server_user.sh.

# start_private_server BINDIR DIRECTORY [LINE ...]: the lines go to its configuration.
start_private_server() {
  local bindir=$1 directory=$2
  shift 2
  (
    cd "$directory"
    as_server_user "$bindir/initdb" -D "$directory/data" -A trust -U postgres -E UTF8 --no-locale -N
    printf '%s\n' "shared_preload_libraries = 'ai'" "listen_addresses = ''" \
      "unix_socket_directories = '$directory'" "$@" >>"$directory/data/postgresql.conf"
    as_server_user "$bindir/pg_ctl" -D "$directory/data" -l "$directory/server.log" -w start
  ) >"$directory/start.log" 2>&1 || {
    cat "$directory/start.log" "$directory/server.log" >&2 2>/dev/null || true
    die 'the server did not start'
  }
}

# stop_private_server BINDIR DIRECTORY
stop_private_server() {
  as_server_user "$1/pg_ctl" -D "$2/data" -m immediate -s stop || true
}
