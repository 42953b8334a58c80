# Sourced by the other scripts: changes to the root of the repository and defines shared functions.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export VIRTUAL_ENV=$PWD/.venv
python=$VIRTUAL_ENV/bin/python
[ "${OS:-}" != Windows_NT ] || python=$VIRTUAL_ENV/Scripts/python.exe # in Git's bash

step() { printf '\n== %s\n' "$*"; }
say() { echo "${0##*/}: $*" >&2; }
die() { say "$@"; exit 1; }

# Runs a command as a stage among others: each line that it prints names it, and `failed_stages` repeats the end of what a failed one
# printed, where readers of a long log look first.
stages=
stage() {
  local name=$1
  shift
  "$@" 2>&1 | tee "$stages/$name" | sed -u "s/^/$name: /" && rm "$stages/$name"
}
begin_stages() { stages=$(mktemp -d) && trap 'rm -rf "$stages"' EXIT; }
failed_stages() {
  local failed name
  failed=$(ls "$stages")
  for name in $failed; do
    step "$name failed"
    tail -n 40 "$stages/$name"
  done
  [ -z "$failed" ] || die "failed:" $failed
}

# As root on Debian and its derivatives, packages of the distribution are installed without asking.
can_install() { command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; }
install() { say "installing $* with apt-get"; apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null; }

# The values of FLEX_ISA that this machine can run, one per line, best last.
isas() {
  echo scalar
  local flags=
  [ ! -r /proc/cpuinfo ] || flags=" $(grep -m1 '^flags' /proc/cpuinfo || true) "
  [[ $flags != *' avx2 '* || $flags != *' fma '* ]] || echo avx2
  [[ $flags = *' avx512bw '* && $flags = *' avx512dq '* && $flags = *' avx512vl '* ]] || return 0
  # with AMX, all but a few products are those of AVX-512
  [[ $flags = *' amx_tile '* && $flags = *' amx_bf16 '* && $flags = *' amx_int8 '* ]] && echo amx || echo avx512
}
