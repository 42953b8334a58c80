#!/usr/bin/env bash
# All checks and tests, in two lanes, since linking, emulators and most tests use one core. Each line names its stage. A stage that fails
# does not stop the others, and is named at the end.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
failed=$(mktemp)
trap 'rm -f "$failed"' EXIT
unset MAKEFLAGS # from the make that runs this: its jobserver is not shared

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
