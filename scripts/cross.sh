# Sourced by the scripts for other machines: the targets, and what each needs.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Linux on other CPUs, and no operating system.
hosted=(aarch64-unknown-linux-gnu i686-unknown-linux-gnu s390x-unknown-linux-gnu)
bare=(thumbv6m-none-eabi thumbv7m-none-eabi thumbv7em-none-eabihf wasm32-unknown-unknown)

# Downloads of setup-cross.sh; its emulators come first in PATH.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/flex-cross
PATH=$cache/bin:$PATH

# describe TARGET: sets `programs` (its linker and emulator), `packages` (the Debian packages that provide them), `runner` (the command
# that runs a test binary) and `linker` (empty for the compiler's own).
describe() {
  local cpu libc board
  linker='' programs=() packages=()
  case $1 in
    aarch64-*) cpu=aarch64 libc=arm64 runner=qemu-aarch64 ;;
    i686-*) cpu=i686 libc=i386 runner=qemu-i386 ;;
    s390x-*) cpu=s390x libc=s390x runner=qemu-s390x ;;
    thumbv6m-*) board=microbit ;;
    thumbv7m-*) board=${cortex_m3:-lm3s6965evb} ;;
    thumbv7em-*) board=mps2-an386 ;;
    wasm32-*) ;;
    x86_64-unknown-linux-gnu) runner=; return ;; # for sanitizers, which need their own build of the standard library
    *) die "$1: no such target here" ;;
  esac
  case $1 in
    *-linux-gnu)
      linker=$cpu-linux-gnu-gcc
      programs=("$linker" "$runner")
      packages=("gcc-$cpu-linux-gnu" "libc6-dev-$libc-cross" qemu-user)
      runner+=" -L /usr/$cpu-linux-gnu"
      ;;
    thumb*)
      programs=(qemu-system-arm)
      packages=(qemu-system-arm)
      runner="timeout 120 qemu-system-arm -machine $board -nographic -semihosting-config enable=on,target=native -kernel"
      ;;
    wasm32-*) runner="$python $PWD/tests/bare/run_wasm.py" ;; # wasmtime is one of the tools in .venv
  esac
}

# prepare TARGET: installs what builds for it need, and sets `target`, `environment` and `std`, with which `cross` runs cargo. Fails if
# something is not available.
prepare() {
  local status=0 name=${1^^}
  target=$1 name=CARGO_TARGET_${name//-/_}
  scripts/setup-cross.sh "$target" || status=$?
  describe "$target"
  environment=("${name}_RUNNER=$runner") std=()
  [ -z "$linker" ] || environment+=("${name}_LINKER=$linker")
  case $status in
    0) ;;
    10) environment+=(RUSTC_BOOTSTRAP=1) std=(-Zbuild-std="$([ -n "$linker" ] && echo std || echo core,alloc)") ;;
    *) return 1 ;;
  esac
}

# A cargo command for the prepared target, with warnings as errors. RUSTFLAGS of the environment are appended.
cross() {
  local command=$1
  shift
  env "${environment[@]}" RUSTFLAGS="-D warnings ${RUSTFLAGS:-}" cargo "$command" -q --target "$target" "${std[@]}" "$@"
}
