# shellcheck shell=bash disable=SC2034,SC2154
# Installing packages with apt, as root or through sudo, without side effects on PostgreSQL servers.
# Sourced, never run. Uses lib/say.sh. Never changes the machine's package sources, never removes a
# package, never accepts an unsigned one.

readonly snippet_dir=/etc/postgresql-common/createcluster.d
readonly snippet=$snippet_dir/ai-setup.conf
readonly policy=/usr/sbin/policy-rc.d
readonly policy_mark='for the time of one installation'

# What guard_clusters made and unguard_clusters removes.
guard_files=()
guard_dirs=()

# Whether packages or their lists could not be downloaded.
is_offline=no

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

# require_root COMMAND: COMMAND is what the user may run as root instead.
require_root() {
  if ((EUID == 0)); then
    return
  fi
  command -v sudo >/dev/null ||
    die 'installing packages needs root, and sudo is not there; run as root:' "$1"
  # Plain -v would ask for a password even where none is needed for the commands.
  sudo -n true 2>/dev/null || sudo -v ||
    die 'installing packages needs root, and sudo refused; run as root:' "$1"
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -y -q \
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 -o Acquire::http::Timeout=30 \
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}

# A source that cannot be read is no failure here: what is wanted may come from the others, and
# apt_require tells. apt-get update exits with 0 for a source that cannot be reached.
apt_update() {
  say 'reading the package lists'
  local before
  before=$(wc -l <"$log_file")
  if ! quietly apt_get update ||
    tail -n "+$((before + 1))" "$log_file" | grep '^[WE]: Failed to fetch' >/dev/null; then
    is_offline=yes
  fi
}

has_candidate() {
  LC_ALL=C apt-cache policy "$1" | grep '^  Candidate: [^(]' >/dev/null
}

suite_name() {
  # shellcheck source=/dev/null
  (. /etc/os-release && printf '%s' "${PRETTY_NAME:-this system}")
}

# apt_require PACKAGE ...: whether apt could install all of them. Where nothing can be downloaded the
# answer is no; elsewhere that ends the script with a clear message.
apt_require() {
  local answer absent
  if answer=$(LC_ALL=C apt-get -s --no-install-recommends --no-remove install "$@" 2>&1); then
    return
  fi
  printf '%s\n' "$answer" >>"$log_file"
  absent=$(sed -nE "s/^E: (Unable to locate package |Package ')([^ ']+).*/\2/p" <<<"$answer" |
    xargs)
  [[ $is_offline == no ]] || return 1
  die_with_log "cannot be had from the package sources of $(suite_name): ${absent:-$*}" \
    "Add the suite's main section (or another source that has it) to the package" \
    'sources, then run this again.'
}

# apt_install PACKAGE ...: false where nothing can be downloaded.
apt_install() {
  apt_require "$@" || return 1
  say "installing $*"
  if quietly apt_get install --no-install-recommends --no-remove "$@"; then
    return
  fi
  if tail -n 25 "$log_file" | grep -E '(Failed|Unable) to fetch' >/dev/null; then
    is_offline=yes
    return 1
  fi
  die_with_log "could not install $*"
}

# Debian's server package makes a cluster `main` and starts it, or starts a cluster that an earlier
# installation left. Neither is wanted here: these two files prevent it for one installation.
# INVARIANT: unguard_clusters takes both away again, also after a failure or a signal.
guard_clusters() {
  if [[ ! -d $snippet_dir ]]; then
    guard_dirs=("$snippet_dir" "${snippet_dir%/*}")
    as_root mkdir -p "$snippet_dir"
  fi
  guard_files=("$snippet")
  as_root tee "$snippet" >/dev/null <<<'create_main_cluster = false'
  # A policy that is there already is the administrator's and stays in force.
  if [[ -e $policy ]] && ! grep -q "$policy_mark" "$policy"; then
    return
  fi
  guard_files+=("$policy")
  as_root install -m 755 /dev/stdin "$policy" <<EOF
#!/bin/sh
# Written by the set-up of ai $policy_mark: no PostgreSQL server starts.
case "\$1" in
  postgresql*) exit 101 ;;
esac
exit 0
EOF
}

unguard_clusters() {
  if ((${#guard_files[@]} > 0)); then
    as_root rm -f "${guard_files[@]}"
  fi
  if ((${#guard_dirs[@]} > 0)); then
    as_root rmdir --ignore-fail-on-non-empty "${guard_dirs[@]}"
  fi
  guard_files=()
  guard_dirs=()
}

# The Debian mirror in the machine's own package sources: no other is ever used. Ends with a message
# when there is none.
debian_mirror() {
  local mirror
  # shellcheck disable=SC2016  # apt's placeholders
  mirror=$(apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk -F '|' '$1 == "Debian" && !found++ { sub("/+$", "", $2); print $2 }')
  [[ -n $mirror ]] || die "no Debian mirror is in the package sources of $(suite_name)" \
    'Add one to the package sources, run apt-get update, then run this again.'
  printf '%s' "$mirror"
}
