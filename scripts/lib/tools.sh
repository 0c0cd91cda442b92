# shellcheck shell=bash disable=SC2154
# Programs that tests run and that are not installed, because their packages would start a service
# on this machine: they are taken out of the package into build/tools. Sourced, never run. Uses
# lib/say.sh and lib/apt.sh. Needs no root: apt checks what it downloads against its signed lists.

tools_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/tools
readonly tools_dir

has_tool() {
  has_command "$1" || [[ -x $tools_dir/$1 ]]
}

# fetch_tool PROGRAM PACKAGE: false if the package cannot be had.
fetch_tool() {
  local scratch
  has_candidate "$2" || return 1
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/ai-tools.XXXXXX")
  # apt downloads as a user of its own where it can.
  chmod 777 "$scratch"
  say "fetching $1, out of the package $2"
  if (cd "$scratch" && quietly apt-get -q -o Acquire::Retries=2 -o Acquire::http::Timeout=30 \
    download "$2") &&
    quietly dpkg-deb --extract "$scratch"/*.deb "$scratch/package" &&
    mkdir -p "$tools_dir" &&
    install -m 755 "$scratch/package/usr/bin/$1" "$tools_dir/.$1.$$"; then
    mv -f "$tools_dir/.$1.$$" "$tools_dir/$1"
  fi
  rm -rf "$scratch"
  [[ -x $tools_dir/$1 ]]
}

# Fetches what check_needs found missing, as far as it can be had.
fetch_missing_tools() {
  local need
  for need in "${missing_tools[@]}"; do
    fetch_tool "${need%|*}" "${need#*|}" || true
  done
}

# The tools that are missing, with their packages.
list_tools() {
  local text
  printf -v text '%s, ' "${missing_tools[@]/|/ of the package }"
  printf '%s' "${text%, }"
}
