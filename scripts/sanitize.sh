#!/usr/bin/env bash
# The tests under tools that detect what tests can't: invalid memory accesses, use after free, and races.
#   sanitize.sh [--short] [address|miri|thread|python]...    default: all; --short: what `make test` has time for
# Blocks have exactly the requested size there, and freed ones are never reused (`--cfg flex_exact`, storage/pool.rs).
# - address: the suite under AddressSanitizer, on each instruction set of this machine; --short: with few dtypes, on the best one.
# - miri: the modules that use pointers, under Miri, in small sizes; --short: borrowed operands only.
# - thread: the tests of threads and storage under ThreadSanitizer, with a standard library compiled for it.
# - python: the tests of the module under AddressSanitizer.
# Tools that are not available are skipped, and a warning says so.
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

# cargo with a sanitizer, which the stable compiler has but does not expose: sanitized NAME COMMAND.. Checks are calls, with little
# optimisation: otherwise instrumented kernels take many minutes to compile.
sanitized() {
  local name=$1 command=$2
  shift 2
  RUSTC_BOOTSTRAP=1 CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_OPT_LEVEL=1 \
    RUSTFLAGS="-Zsanitizer=$name --cfg flex_exact -Cllvm-args=-asan-instrumentation-with-call-threshold=0" \
    cargo "$command" -q --target "$host" --target-dir "target/$name" "$@"
}

address() {
  local of=(--tests) list
  list=$(isas)
  if ! compgen -G "$(rustc --print sysroot)/lib/rustlib/$host/lib/librustc*_rt.asan.a" >/dev/null; then
    not_run+=("AddressSanitizer, for want of the compiler's runtime for $host")
    return
  fi
  if [ -n "$short" ]; then of+=(--no-default-features --features std,avx512,i8,i32,i64,signal,grad,quant,stream,io) list=$best; fi
  for isa in $list; do
    step "AddressSanitizer, FLEX_ISA=$isa"
    # each fork copies the page tables of shadow memory, which takes a second
    FLEX_ISA=$isa sanitized address test "${of[@]}" -- --skip fork
  done
}

# The tests have smaller sizes under cfg(miri); tests that would still take an hour are left out.
miri() {
  local run=(filtered cargo +nightly miri test -q)
  if ! cargo +nightly miri --version >/dev/null 2>&1 &&
    ! { command -v rustup >/dev/null && timeout 60 rustup -q component add --toolchain nightly miri rust-src >/dev/null 2>&1; }; then
    not_run+=("Miri, for want of a nightly compiler that has it")
    return
  fi
  # threads that never end keep their allocations
  export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks ${MIRIFLAGS:-}"
  step "Miri"
  if [ -n "$short" ]; then
    RUSTFLAGS="--cfg flex_exact" "${run[@]}" --target-dir target/miri --test borrowed -- eight_bytes
    return
  fi
  "${run[@]}" --target-dir target/miri --test storage --test threads -- # the pool as it is
  RUSTFLAGS="--cfg flex_exact" "${run[@]}" --target-dir target/miri --test borrowed --
  # Miri supports AVX2, except for float16 conversions
  RUSTFLAGS="--cfg flex_exact -Ctarget-feature=+avx2,+fma,+bmi1,+bmi2,+f16c,+lzcnt,+popcnt" "${run[@]}" --target-dir target/miri-avx2 \
    --test suite -- storage:: packed:: layout:: exec:: kernel::sort --skip floats_with_specials
}

thread() {
  local status=0
  SOURCE=1 scripts/setup-cross.sh "$host" || status=$?
  if [ $status != 10 ]; then
    not_run+=("ThreadSanitizer, for want of the standard library's source")
    return
  fi
  step "ThreadSanitizer"
  # threads and storage don't depend on dtypes
  TSAN_OPTIONS=halt_on_error=1 sanitized thread test -Zbuild-std=std,panic_unwind --no-default-features --features std \
    --test threads --test storage -- --skip fork
}

# An extension module can't bring a sanitizer's runtime, so the C compiler's is preloaded into the interpreter.
python() {
  local runtime folder=target/address/python
  runtime=$(cc -print-file-name=libasan.so)
  if [ ! -e "$runtime" ]; then
    not_run+=("the Python module under AddressSanitizer, for want of the C compiler's libasan.so")
    return
  fi
  step "AddressSanitizer, the Python module"
  sanitized address build -p flex-python
  mkdir -p "$folder"
  rm -rf "$folder/flex"
  cp -r python/flex "$folder"
  cp "target/address/$host/debug/lib_flex.so" "$folder/flex/_flex.abi3.so"
  # Leaks are not reported, since the interpreter leaks some memory, and its arenas stay in use. Signals are left to the tests, which expect
  # those of guard pages. Left out are tests that shadow memory rules out, with limits of the address space or small stacks, and one of the
  # cache of freed blocks, which does not exist here.
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
