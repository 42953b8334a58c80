#!/usr/bin/env bash
# Installs what builds and tests for other machines need, if anything is missing: linkers and emulators (Debian packages, where apt may
# install them; a later release's emulator where the installed one is faulty), and the standard library, in the first way that works:
#   1. compiled, through rustup;
#   2. as source, through rustup;
#   3. as source from Debian's rust-src of the compiler's own release (a newer one fails to build), through apt with separate lists.
# After 2 or 3 a build needs RUSTC_BOOTSTRAP=1 and -Zbuild-std; test-cross.sh does that.
#   setup-cross.sh [TARGET...]    default: all of cross.sh
# Exit status: 0 compiled library, 10 source only, 1 something is missing.
# LIMIT: seconds for one download. SKIP_RUSTUP=1 goes straight to 3. SOURCE=1 gets the source even if the compiled library is there, for
# sanitizers that need their own build.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/cross.sh"
[ $# -gt 0 ] || set -- "${hosted[@]}" "${bare[@]}"
limit=${LIMIT:-120}
rustlib=$(rustc --print sysroot)/lib/rustlib
source=$rustlib/src/rust
release=$(rustc -vV | sed -nE 's/^release: ([0-9.]+).*/\1/p')

have_compiled() { [ -z "${SOURCE:-}" ] && compgen -G "$rustlib/$1/lib/libcore-*.rlib" >/dev/null; }
have_source() { [ -e "$source/library/core/src/lib.rs" ]; }
use_source() { say "standard library from source ($1)"; exit 10; }

absent=()
for target; do
  describe "$target"
  for program in "${programs[@]}"; do command -v "$program" >/dev/null || { absent+=("${packages[@]}"); break; }; done
done
if [ ${#absent[@]} -gt 0 ]; then
  { can_install && install "${absent[@]}"; } || { say "missing: ${absent[*]} (Debian's names)"; exit 1; }
fi

# The machine's Debian mirror, for another suite.
debian_entry() {
  local deb822=/etc/apt/sources.list.d/debian.sources list=/etc/apt/sources.list
  if [ -f "$deb822" ]; then
    awk 'BEGIN { RS = ""; ORS = "\n\n" } /Suites:.*-updates/ { print; exit }' "$deb822" | sed -E "/^#/d; s/^Suites:.*/Suites: $1/" >"$2/debian.sources"
  elif [ -f "$list" ]; then
    sed -nE "/^deb .*-updates/ { s/^(deb( \[[^]]*\])? [^ ]+) [^ ]+/\1 $1/p; q }" "$list" >"$2/debian.list"
  fi
}

# unpack SUITE PACKAGE PATTERN FILE: unpacks the newest version of the package that matches the pattern, from another suite into the cache,
# unless FILE exists there. Nothing is installed.
unpack() {
  local folder=$cache/$1 version
  [ ! -e "$folder/files/$4" ] || return 0
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || return 1
  mkdir -p "$folder"/{parts,lists/partial,cache/archives/partial,files}
  debian_entry "$1" "$folder/parts"
  local apt=(-qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder/parts" -o "Dir::State::lists=$folder/lists"
    -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root)
  timeout "$limit" apt-get "${apt[@]}" update >/dev/null 2>&1 || return 1
  version=$(apt-cache "${apt[@]}" madison "$2" 2>/dev/null | awk -F'|' '{ gsub(/ /, "", $2); print $2 }' | grep -m1 -E "$3") || return 1
  (cd "$folder" && timeout "$limit" apt-get "${apt[@]}" download "$2=$version" && dpkg -x "$2"_*.deb files && rm -f "$2"_*.deb) || return 1
  [ -e "$folder/files/$4" ]
}

# QEMU before 8.1 emulates s390x's MDEB (float32 product as float64) wrongly. Debian's later builds are static and run anywhere.
sound() { [ "$(printf '%s\n' 8.1 "$("$1" --version | sed -nE '1s/.*version ([0-9.]+).*/\1/p')" | sort -V | head -1)" = 8.1 ]; }
for target; do
  [[ $target == s390x-* ]] || continue
  ! sound qemu-s390x || continue
  for suite in bookworm-backports trixie; do
    if unpack "$suite" qemu-user '.' usr/bin/qemu-s390x && sound "$cache/$suite/files/usr/bin/qemu-s390x"; then
      mkdir -p "$cache/bin"
      ln -sfn "$cache/$suite/files/usr/bin/qemu-s390x" "$cache/bin/qemu-s390x"
      break
    fi
  done
  sound qemu-s390x || { say "missing: qemu-s390x of QEMU 8.1 or newer"; exit 1; }
done

missing=()
for target; do have_compiled "$target" || missing+=("$target"); done
[ ${#missing[@]} -gt 0 ] || exit 0
! have_source || use_source "already there"

if [ -z "${SKIP_RUSTUP:-}" ] && command -v rustup >/dev/null; then
  [ -n "${SOURCE:-}" ] || ! timeout "$limit" rustup -q target add "${missing[@]}" >&2 || exit 0
  ! timeout "$limit" rustup -q component add rust-src >&2 || use_source rustup
  say "rustup could not fetch it"
fi

# fetch SUITE: links the standard library's source of this release, from the suite's package, into the toolchain.
fetch() {
  local unpacked=usr/src/rustc-$release
  unpack "$1" rust-src "^${release//./\\.}[+~-]" "$unpacked/library/core/src/lib.rs" || return 1
  mkdir -p "$source"
  ln -sfn "$cache/$1/files/$unpacked/library" "$source/library"
  ln -sfn "$cache/$1/files/$unpacked/src" "$source/src"
  have_source
}

for suite in trixie-backports trixie testing sid; do
  ! fetch "$suite" || use_source "Debian $suite, $release"
done
say "no standard library for ${missing[*]}: 'rustup target add ${missing[*]}' is the ordinary way, and needs the network"
exit 1
