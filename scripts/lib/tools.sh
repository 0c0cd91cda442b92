# shellcheck shell=bash disable=SC2154
# Programs that tests run and that are not installed, because their packages would start a service
# on this machine: they are taken out of the package into build/tools. Sourced, never run. Uses
# lib/say.sh and lib/apt.sh. Needs no root: apt checks what it downloads against its signed lists.

tools_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/tools
readonly tools_dir

has_tool() {
  has_command "$1" || [[ -x $tools_dir/$1 ]]
}

# fetch_tool PROGRAM PACKAGE ...: takes it out of the first of the packages that there is; false if
# it cannot be had.
fetch_tool() {
  local tool=$1 package scratch
  shift
  for package in "$@"; do
    has_candidate "$package" || continue
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/ai-tools.XXXXXX")
    say "fetching $tool, out of the package $package"
    if (cd "$scratch" && quietly apt-get -q -o Acquire::Retries=2 -o Acquire::http::Timeout=30 \
      download "$package") &&
      quietly dpkg-deb --extract "$scratch"/*.deb "$scratch/package" &&
      mkdir -p "$tools_dir" &&
      quietly install -m 755 "$scratch/package/usr/bin/$tool" "$tools_dir/.$tool.$$"; then
      mv -f "$tools_dir/.$tool.$$" "$tools_dir/$tool"
    fi
    rm -rf "$scratch"
    [[ ! -x $tools_dir/$tool ]] || return 0
  done
  return 1
}

# Fetches what check_needs found missing, as far as it can be had.
fetch_missing_tools() {
  local need
  for need in "${missing_tools[@]}"; do
    # shellcheck disable=SC2086  # the packages are words
    fetch_tool "${need%|*}" ${need#*|} || true
  done
}

# The tools that are missing, with their packages.
list_tools() {
  local text
  printf -v text '%s), ' "${missing_tools[@]/|/ (packages: }"
  printf '%s' "${text%, }"
}
