# Sourced by the other scripts: changes to the root of the repository and defines shared functions.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export VIRTUAL_ENV=$PWD/.venv
python=$VIRTUAL_ENV/bin/python
[ "${OS:-}" != Windows_NT ] || python=$VIRTUAL_ENV/Scripts/python.exe # in Git's bash

step() { printf '\n== %s\n' "$*"; }
say() { echo "${0##*/}: $*" >&2; }
die() { say "$@"; exit 1; }

# A wheel has at most 9 MB.
check_size() {
  local most=$((9 * 1000 * 1000)) size
  size=$(stat -c %s "$1" 2>/dev/null || stat -f %z "$1")
  echo "$1: $size bytes"
  [ "$size" -le "$most" ] || die "the wheel has $size bytes, more than $most"
}

# Runs a command as a stage among others: each line that it prints names it, and `failed_stages` repeats the end of what a failed one
# printed, where readers of a long log look first. Scripts within a stage inherit the folder. `stage_times` says how long each took.
stages=${stages:-}
stage() {
  local name=$1 status=0 TIMEFORMAT="$1 %0R s (CPU %0U s)"
  shift
  { time "$@" 2>&1 | tee "$stages/$name" | sed -u "s/^/$name: /" && rm "$stages/$name" || status=$?; } 2>>"$stages/.times"
  return "$status"
}
stage_times() { paste -sd ',' "$stages/.times" | sed 's/,/, /g'; }
begin_stages() { stages=$(mktemp -d) && export stages && trap 'rm -rf "$stages"' EXIT; }
failed_stages() {
  local failed name
  failed=$(ls "$stages")
  for name in $failed; do
    step "$name failed"
    tail -n 40 "$stages/$name"
  done
  [ -z "$failed" ] || die "failed:" $failed
}

# As root on Debian and its derivatives, packages of the distribution are installed without asking. Stages take turns, since apt waits for
# only one of its locks, and a mirror that fails is asked again; an index that can't be renewed may still serve.
can_install() { command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; }
install() {
  local pause
  local apt=(flock "${TMPDIR:-/tmp}/flex-apt.lock" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  say "installing $* with apt-get"
  for pause in 0 15 60; do
    sleep "$pause"
    "${apt[@]}" update || true
    ! "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null || return 0
  done
  [ -z "${stages:-}" ] || printf '%s\n' "$@" >>"$stages/.unavailable"
  return 1
}

# not_tested WHAT WHY [PACKAGE..]: says that something is left out, which `left_out` names at the end of a run with several stages. The
# packages are Debian's that would have helped, if any: if this machine offers them, and did not fail to install them, it could have tested it.
not_tested() {
  local what=$1 why=$2 mark=
  shift 2
  [ $# = 0 ] || ! offered "$@" || mark='!'
  printf '\n!! NOT TESTED, for want of %s: %s\n' "$why" "$what" >&2
  [ -z "${stages:-}" ] || printf '%s%s, for want of %s\n' "$mark" "$what" "$why" >>"$stages/.left_out"
}
offered() {
  can_install || return 1
  local package
  for package; do
    ! grep -qxF "$package" "${stages:-}/.unavailable" 2>/dev/null || return 1
    apt-cache show "$package" >/dev/null 2>&1 || return 1
  done
}
# Headless Chromium for tests of pages: CHROMIUM if it is set, else Debian's package, where apt may install it.
browser=(chromium fonts-liberation)
find_chromium() {
  command -v "${CHROMIUM:=chromium}" >/dev/null || { can_install && install "${browser[@]}"; } || return 1
  export CHROMIUM
}
# What the stages have left out, on one line; with --offered only what this machine could have tested.
left_out() {
  [ -e "$stages/.left_out" ] || return 0
  if [ "${1:-}" = --offered ]; then sed -n 's/^!//p' "$stages/.left_out"; else sed 's/^!//' "$stages/.left_out"; fi | sort -u | paste -sd '|' | sed 's/|/; /g'
}

# filtered COMMAND.. -- [--skip NAME].. FILTER..: a command of cargo that runs tests, with filters, of which libtest doesn't say if they
# match nothing: here that is an error. (What is to be skipped may be left out by features already.)
filtered() {
  local command=() filters=() list word before=
  while [ "$1" != -- ]; do command+=("$1"); shift; done
  shift
  for word; do
    [ "$before" = --skip ] || [ "$word" = --skip ] || filters+=("$word")
    before=$word
  done
  if [ ${#filters[@]} -gt 0 ]; then
    list=$("${command[@]}" -- --list | sed -n 's/: test$//p')
    for word in "${filters[@]}"; do
      grep -qF -- "$word" <<<"$list" || die "$word is in the name of no test"
    done
  fi
  "${command[@]}" -- "$@"
}

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
