# shellcheck shell=bash
# Which PostgreSQL is meant, and what of it is there. Sourced, never run; changes nothing.

readonly oldest_major=15 newest_major=18
readonly debian_root=/usr/lib/postgresql

# The answer of find_postgres: the major version, and the pg_config of that version; both are empty
# when no PostgreSQL is there yet. The pg_config of a package need not be installed yet.
pg_major=
pg_config=

# Debian's postgresql-client ships pg_config and pgxs.mk too, so only the headers tell that one can
# build against a server.
has_headers() {
  local dir
  dir=$("$1" --includedir-server 2>/dev/null) && [[ -f $dir/postgres.h ]]
}

# The pg_config in PG_CONFIG, which is the user's wish: refused when it cannot be fulfilled.
given_pg_config() {
  if command -v -- "$PG_CONFIG"; then
    return
  fi
  [[ $PG_CONFIG =~ ^$debian_root/[0-9]+/bin/pg_config$ ]] ||
    die "PG_CONFIG=$PG_CONFIG is not there" "Unset it, or give the path of a pg_config."
  printf '%s\n' "$PG_CONFIG"
}

# newest_packaged headers|postgres: the pg_config of the newest version that has the headers, or at
# least the server, from Debian's packages.
newest_packaged() {
  local dir
  while read -r dir; do
    [[ $1 == postgres && -x $dir/bin/postgres ]] || has_headers "$dir/bin/pg_config" || continue
    printf '%s\n' "$dir/bin/pg_config"
    return
  done < <(printf '%s\n' "$debian_root"/*/ | sed 's,/$,,' | sort -Vr)
  return 1
}

choose_pg_config() {
  if [[ -n ${PG_CONFIG:-} && $PG_CONFIG != pg_config ]]; then
    given_pg_config
  elif has_headers pg_config; then
    command -v pg_config
  else
    newest_packaged headers || newest_packaged postgres || true
  fi
}

find_postgres() {
  local chosen version
  chosen=$(choose_pg_config)
  [[ -n $chosen ]] || return 0
  if [[ ! -x $chosen ]]; then
    use_packaged "$(basename "${chosen%/bin/pg_config}")"
    return
  fi
  version=$("$chosen" --version) || die "$chosen does not run"
  [[ $version =~ ^PostgreSQL\ ([0-9]+) ]] || die "$chosen says '$version', which is not understood"
  pg_major=${BASH_REMATCH[1]}
  pg_config=$chosen
  # /usr/bin/pg_config of Debian answers for whichever version is the newest; name the one meant.
  if [[ $("$chosen" --bindir) == "$debian_root/$pg_major/bin" ]]; then
    use_packaged "$pg_major"
  fi
  require_supported
}

use_packaged() {
  pg_major=$1
  pg_config=$debian_root/$1/bin/pg_config
  require_supported
}

require_supported() {
  ((pg_major >= oldest_major && pg_major <= newest_major)) ||
    die "PostgreSQL $pg_major is not supported ($oldest_major to $newest_major are)" \
      "Name another one, for example PG_CONFIG=$debian_root/$newest_major/bin/pg_config."
}

is_packaged() {
  [[ $pg_config == "$debian_root/$pg_major/bin/pg_config" ]]
}

has_server() {
  local dir
  dir=$("$pg_config" --bindir 2>/dev/null) && [[ -x $dir/postgres && -x $dir/initdb ]]
}

# pg_regress and the TAP modules lie beside pgxs.mk; a server built by hand has the modules only
# when it was configured with --enable-tap-tests.
has_test_tools() {
  local pgxs top
  pgxs=$("$pg_config" --pgxs 2>/dev/null) || return 1
  top=${pgxs%/makefiles/pgxs.mk}
  [[ -f $pgxs && -x $top/test/regress/pg_regress && -f $top/test/perl/PostgreSQL/Test/Cluster.pm ]]
}

pgvector_control() {
  local dir
  dir=$("$pg_config" --sharedir 2>/dev/null) && [[ -f $dir/extension/vector.control ]] &&
    printf '%s\n' "$dir/extension/vector.control"
}

has_pgvector() {
  pgvector_control >/dev/null
}

pgvector_version() {
  sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" "$(pgvector_control)"
}
