# shellcheck shell=bash disable=SC2154
# Builds a package of pgvector from Debian's source package of a newer suite, for a PostgreSQL whose
# own suite has none. Sourced, never run. Uses lib/say.sh, lib/apt.sh, lib/postgres.sh.
# The machine's package sources and lists stay as they are: apt gets a configuration of its own
# under `work`, and accepts only what Debian's archive keys have signed.

readonly keyring=/usr/share/keyrings/debian-archive-keyring.gpg
readonly newer_suites=(trixie sid)

# The machine's settings for downloads (proxies and the like) hold here too; its hooks do not.
# APT_CONFIG is read first, so it can turn off the reading of /etc/apt/apt.conf.d.
private_apt_config() {
  local dir=$1
  mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
  apt-config dump | grep -E '^Acquire::' | grep -v '^Acquire::IndexTargets' || true
  cat <<EOF
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::trusted "/dev/null";
Dir::Etc::trustedparts "/dev/null";
Dir::State "$dir/state";
Dir::Cache "$dir/cache";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
APT::Get::AllowUnauthenticated "false";
EOF
}

# fetch_source WORK MIRROR SUITE: the source package lies unpacked in WORK/source afterwards.
fetch_source() {
  local work=$1 apt=$1/apt
  rm -rf "$apt" "$work/download" "$work/source"
  mkdir -p "$apt" "$work/download"
  private_apt_config "$apt" >"$apt/apt.conf"
  printf 'deb-src [signed-by=%s] %s %s main\n' "$keyring" "$2" "$3" >"$apt/sources.list"
  # As root, apt downloads as its own user, who needs a directory to write to.
  ((EUID != 0)) || chown _apt "$work/download"
  quietly env APT_CONFIG="$apt/apt.conf" apt-get -q --error-on=any update &&
    (cd "$work/download" &&
      quietly env APT_CONFIG="$apt/apt.conf" apt-get -q source --download-only pgvector) &&
    quietly dpkg-source --no-check -x "$work"/download/pgvector_*.dsc "$work/source"
}

# Runs make in the source without what `make setup` passes on to the makes it starts. Empty OPTFLAGS
# keep the library from being bound to the processor of this machine.
make_pgvector() {
  env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL \
    make -C "$1/source" OPTFLAGS= PG_CONFIG="$pg_config" "${@:2}"
}

package_control() {
  local source=$1/source version depends
  version=$(cd "$source" && dpkg-parsechangelog -S Version)
  depends=$(cd "$source" && dpkg-shlibdeps -O "$1"/root"$("$pg_config" --pkglibdir)"/vector.so)
  cat <<EOF
Package: $(pgvector_package)
Version: $version~local1
Architecture: $(dpkg --print-architecture)
Maintainer: local build <root@localhost>
Section: database
Priority: optional
Depends: postgresql-$pg_major, ${depends#shlibs:Depends=}
Homepage: https://github.com/pgvector/pgvector
Description: vector similarity search for PostgreSQL $pg_major
 Built on this machine from Debian's source package pgvector $version.
EOF
}

pgvector_package() {
  printf 'postgresql-%s-pgvector' "$pg_major"
}

# build_package WORK: a .deb lies in WORK afterwards.
build_package() {
  local work=$1 root=$1/root doc
  doc=$root/usr/share/doc/$(pgvector_package)
  rm -rf "$root"
  mkdir -p "$root/DEBIAN" "$doc" &&
    quietly make_pgvector "$work" -j"$(nproc)" all &&
    quietly make_pgvector "$work" DESTDIR="$root" install &&
    cp "$work/source/debian/copyright" "$doc/" &&
    package_control "$work" >"$root/DEBIAN/control" 2>>"$log_file" &&
    chmod -R u=rwX,go=rX "$root" &&
    quietly dpkg-deb --root-owner-group --build "$root" "$work"
}

install_tools() {
  local tools=()
  command -v dpkg-source >/dev/null || tools+=(dpkg-dev)
  [[ -f $keyring ]] || tools+=(debian-archive-keyring)
  ((${#tools[@]} == 0)) || apt_install "${tools[@]}"
}

# build_pgvector WORK: builds and installs it, or ends with a message; false where nothing can be
# downloaded.
build_pgvector() {
  local work=$1 mirror suite
  local advice='Check the network, and that the package debian-archive-keyring is current.'
  install_tools || return 1
  mirror=$(debian_mirror)
  for suite in "${newer_suites[@]}"; do
    say "building pgvector for PostgreSQL $pg_major from the source package in $suite"
    fetch_source "$work" "$mirror" "$suite" || continue
    if build_package "$work"; then
      apt_install "$work"/*.deb
      return
    fi
    advice="Install it by hand: make PG_CONFIG=$pg_config install in its source."
  done
  [[ $is_offline == no ]] || return 1
  die_with_log "$(suite_name) has no package $(pgvector_package), and none could be built" "$advice"
}
