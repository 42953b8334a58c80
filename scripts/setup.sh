#!/usr/bin/env bash
# Creates .venv with the pinned tools of a dependency group of pyproject.toml, and checks that Rust is installed. Does nothing if all is there.
#   setup.sh [GROUP]    default: dev, for building and testing
#   PYTHON=/path/to/python3.12 scripts/setup.sh    uses that interpreter
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
group=${1:-dev}
pip_version=26.3    # the first with --group is 25.1

new_enough() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    if new_enough "$candidate"; then echo "$candidate"; return; fi
  done
  return 1
}

command -v cc >/dev/null || { can_install && install gcc libc6-dev; } || die "no C linker (cc): install gcc or clang, Rust links with it"

want=$(sed -nE 's/^rust-version = "(.*)"/\1/p' Cargo.toml)
command -v cargo >/dev/null || die "no Rust: install it from https://rustup.rs (flex needs $want or newer), open a new shell, and run this again"
have=$(rustc --version | awk '{print $2}')
[ "$(printf '%s\n' "$want" "$have" | sort -V | head -1)" = "$want" ] || die "Rust $have is too old: flex needs $want or newer (rustup update stable)"

base=$(find_python) || { can_install && install python3 python3-venv && base=$(find_python); } ||
  die "no Python 3.11 or newer with venv: install one (Debian: apt-get install python3 python3-venv), or name one by PYTHON=..."

inputs=$(sha256sum pyproject.toml scripts/setup.sh)
stamp=.venv/.setup-$group
if [ -x "$python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$inputs" ]; then exit 0; fi

step "setting up .venv with $("$base" --version): $group"
new_enough "$python" || "$base" -m venv --clear .venv
"$python" -m pip install -q --disable-pip-version-check "pip==$pip_version"
"$python" -m pip install -q --disable-pip-version-check --group "$group"
echo "$inputs" >"$stamp"
