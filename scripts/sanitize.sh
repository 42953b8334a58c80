#!/usr/bin/env bash
# The tests under tools that see what tests can't: memory that is not ours, or not any more, and races.
#   sanitize.sh [--short] [address|miri|thread|python]...    default: all; --short: what `make test` has time for
# Blocks have exactly their bytes there, and freed ones are never used again (`--cfg flex_exact`, storage/pool.rs).
# - address: the suite under AddressSanitizer, on each instruction set of this machine; in short, with few dtypes, on the best.
# - miri: the modules with pointers of their own under Miri, in small sizes; in short, borrowed operands alone.
# - thread: the threads' and the storage's tests under ThreadSanitizer, with a standard library compiled for it.
# - python: the module's tests under AddressSanitizer.
# What can't be had here is not run, and that is said loudly.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
short='' tools=() not_run=()
for word; do
  case $word in
    --short) short=1 ;;
    address | thread | miri | python) tools+=("$word") ;;
    *) die "$word: no such tool; there are address, miri, thread, python" ;;
  esac
done
[ ${#tools[@]} -gt 0 ] || { tools=(address miri) && [ -n "$short" ] || tools+=(thread python); }
host=$(rustc -vV | sed -nE 's/^host: //p')
best=$(isas | tail -1)

# cargo with a sanitizer, which the stable compiler has but doesn't show: sanitized NAME COMMAND.. Checks are calls and little is
# optimised, for instrumented kernels take many minutes to compile otherwise.
sanitized() {
  local name=$1 command=$2
  shift 2
  RUSTC_BOOTSTRAP=1 CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_OPT_LEVEL=1 \
    RUSTFLAGS="-Zsanitizer=$name --cfg flex_exact -Cllvm-args=-asan-instrumentation-with-call-threshold=0" \
    cargo "$command" -q --target "$host" --target-dir "target/$name" "$@"
}

address() {
  local of=(--lib --tests) list
  list=$(isas)
  if ! compgen -G "$(rustc --print sysroot)/lib/rustlib/$host/lib/librustc*_rt.asan.a" >/dev/null; then
    not_run+=("AddressSanitizer, for want of the compiler's runtime for $host")
    return
  fi
  if [ -n "$short" ]; then of+=(--no-default-features --features std,simd,i8,i32,i64) list=$best; fi
  for isa in $list; do
    step "AddressSanitizer, FLEX_ISA=$isa"
    # a fork copies tables of shadow memory, which takes a second each
    FLEX_ISA=$isa sanitized address test "${of[@]}" -- --skip fork
  done
}

# Small forms of the tests stand under cfg(miri) beside them; what would take an hour there is not among these.
miri() {
  local run=(cargo +nightly miri test -q)
  if ! cargo +nightly miri --version >/dev/null 2>&1 &&
    ! { command -v rustup >/dev/null && timeout 60 rustup -q component add --toolchain nightly miri rust-src >/dev/null 2>&1; }; then
    not_run+=("Miri, for want of a nightly compiler that has it")
    return
  fi
  # threads that never end hold on to what they have
  export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks ${MIRIFLAGS:-}"
  step "Miri"
  if [ -n "$short" ]; then
    RUSTFLAGS="--cfg flex_exact" "${run[@]}" --target-dir target/miri --test borrowed eight_bytes
    return
  fi
  "${run[@]}" --target-dir target/miri --test storage --test threads # the pool as it is
  RUSTFLAGS="--cfg flex_exact" "${run[@]}" --target-dir target/miri --test borrowed
  # instructions of AVX2, which Miri has, but those that convert float16
  RUSTFLAGS="--cfg flex_exact -Ctarget-feature=+avx2,+fma,+bmi1,+bmi2,+f16c,+lzcnt,+popcnt" "${run[@]}" --target-dir target/miri-avx2 \
    --lib -- storage:: layout:: exec:: kernel::sort --skip floats_with_specials
}

thread() {
  local status=0
  SOURCE=1 scripts/setup-cross.sh "$host" || status=$?
  if [ $status != 10 ]; then
    not_run+=("ThreadSanitizer, for want of the standard library's source")
    return
  fi
  step "ThreadSanitizer"
  # threads and storage know no dtypes
  TSAN_OPTIONS=halt_on_error=1 sanitized thread test -Zbuild-std=std,panic_unwind --no-default-features --features std \
    --test threads --test storage -- --skip fork
}

# An extension module can't bring a sanitizer's runtime with it: the C compiler's is loaded before the interpreter.
python() {
  local runtime folder=target/address/python
  runtime=$(cc -print-file-name=libasan.so)
  if [ ! -e "$runtime" ]; then
    not_run+=("the Python module under AddressSanitizer, for want of the C compiler's libasan.so")
    return
  fi
  step "AddressSanitizer, the Python module"
  sanitized address rustc --lib --features python --crate-type cdylib
  mkdir -p "$folder"
  rm -rf "$folder/flex"
  cp -r python/flex "$folder"
  cp "target/address/$host/debug/libflex.so" "$folder/flex/_flex.abi3.so"
  # The interpreter's own allocations are left alone: it leaks some, and counts on its arenas. Signals are the tests' own, which know what to
  # expect of guard pages. Left out is what shadow memory has no room for: limits of the address space, and small stacks; and a cache of
  # freed blocks, which there is none of.
  LD_PRELOAD=$(readlink -f "$runtime") ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_segv=0:handle_sigbus=0 PYTHONPATH=$PWD/$folder \
    "$python" -m pytest -q -p no:cacheprovider tests/python --ignore tests/python/test_models.py --ignore tests/python/test_cli.py \
    --ignore tests/python/test_memory.py --deselect tests/python/test_stalls.py::test_a_thread_with_little_stack \
    --deselect tests/python/test_config.py::test_memory_stats_and_empty_cache
}

for tool in "${tools[@]}"; do
  started=$SECONDS
  "$tool"
  say "$tool: $((SECONDS - started)) s"
done
for reason in ${not_run[@]+"${not_run[@]}"}; do printf '\n!! NOT RUN: %s\n' "$reason" >&2; done
