#!/usr/bin/env bash
# Everything that must hold, in two lanes: linking with optimisation, emulators and most tests keep one core. Each line names its stage.
# A stage that fails stops no other, and is named at the end.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
failed=$(mktemp)
trap 'rm -f "$failed"' EXIT
unset MAKEFLAGS # of the make that runs this: `make -j` has no jobs to lend

lane() {
  for stage; do
    make --no-print-directory "$stage" 2>&1 | sed -u "s/^/$stage: /" || echo "$stage" >>"$failed"
  done
}

lane test-cross test-web &
lane lint msrv test-rust test-python
wait
[ ! -s "$failed" ] || die "failed: $(xargs <"$failed")"
say "all passed in $((SECONDS / 60)) min"
