# shellcheck shell=bash disable=SC2154
# What building, testing, monitoring, linting and the chroot tests need, and what of it is missing.
# Looks at what is there, not at which package it came from, so that a library installed in another
# way counts. Sourced, never run; changes nothing. Uses lib/postgres.sh and lib/tools.sh.

# Each need: what it is called | Debian's package | how it is seen. Nothing can be built without the
# first ones; without the second ones tests fail, or token tables and model are not made.
readonly build_needs=(
  'g++|g++|command g++'
  'make|make|command make'
  'pkg-config|pkg-config|command pkg-config'
  'libcurl|libcurl4-openssl-dev|library libcurl'
  'rapidjson|rapidjson-dev|header rapidjson/document.h'
  'PCRE2|libpcre2-dev|library libpcre2-8'
  'OpenSSL|libssl-dev|library openssl'
)
readonly test_needs=(
  'prove|perl|command prove'
  'pgrep|procps|command pgrep'
  'IPC::Run for perl|libipc-run-perl|module IPC::Run'
  'openssl command|openssl|command openssl'
  'zlib|zlib1g-dev|library zlib'
  'Catch2|catch2|header catch2/catch.hpp catch2/catch_all.hpp'
  'npm|npm|command npm'
)
readonly lint_needs=(
  'clang-format|clang-format|command clang-format'
  'clang-tidy|clang-tidy|command clang-tidy'
  'shellcheck|shellcheck|command shellcheck'
)
readonly chroot_needs=('debootstrap|debootstrap|command debootstrap')
# Programs, and the packages that they are taken out of, the first one that there is: see
# lib/tools.sh. promtool has had a package of its own since Debian 13.
readonly monitoring_tools=(
  'prometheus-postgres-exporter|prometheus-postgres-exporter'
  'promtool|promtool prometheus'
)

# What check_needs found missing: the names for people, and Debian's packages for all but PostgreSQL
# of a yet unknown version and pgvector, which are not simply a package's name; tools; and how many of
# the names are of things that nothing can be built without, which come first.
missing_names=()
missing_packages=()
missing_tools=()
missing_to_build=0

miss() {
  missing_names+=("$1")
  [[ -z ${2:-} ]] || missing_packages+=("$2")
}

has_command() {
  PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null
}

has_module() {
  perl "-M$1" -e 1 2>/dev/null
}

has_library() {
  pkg-config --exists "$1" 2>/dev/null
}

# Any of the headers will do.
has_header() {
  local header
  for header in "$@"; do
    if printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$header" |
      g++ -std=c++20 -x c++ -E - >/dev/null 2>&1; then
      return 0
    fi
  done
  return 1
}

check_list() {
  local need name package seen
  for need in "$@"; do
    IFS='|' read -r name package seen <<<"$need"
    # shellcheck disable=SC2086  # the words of the table are the arguments
    has_$seen || miss "$name" "$package"
  done
}

check_tools() {
  local need
  for need in "$@"; do
    if ! has_tool "${need%|*}"; then
      missing_tools+=("$need")
      miss "${need%|*}"
    fi
  done
}

check_postgres() {
  if [[ -z $pg_major ]]; then
    miss 'PostgreSQL with its headers and test tools'
    miss pgvector
    return
  fi
  has_server || miss "PostgreSQL $pg_major server" "postgresql-$pg_major"
  has_headers "$pg_config" ||
    miss "PostgreSQL $pg_major server headers" "postgresql-server-dev-$pg_major"
  has_pgvector || miss "pgvector for PostgreSQL $pg_major"
}

check_test_tools() {
  [[ -z $pg_major ]] || has_test_tools ||
    miss "PostgreSQL $pg_major pg_regress and TAP modules" "postgresql-server-dev-$pg_major"
}

# check_needs PROFILE ...: fills the lists above.
check_needs() {
  missing_names=()
  missing_packages=()
  missing_tools=()
  local profile
  check_list "${build_needs[@]}"
  check_postgres
  missing_to_build=${#missing_names[@]}
  check_list "${test_needs[@]}"
  check_test_tools
  for profile in "$@"; do
    case $profile in
      lint) check_list "${lint_needs[@]}" ;;
      chroot) check_list "${chroot_needs[@]}" ;;
      monitoring) check_tools "${monitoring_tools[@]}" ;;
    esac
  done
}
