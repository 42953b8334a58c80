#!/usr/bin/env bash
# All checks and tests, in two lanes, since linking, emulators and most tests use one core. Each line names its stage. A stage that fails
# does not stop the others; the end of what it printed is repeated at the end, where readers of a long log look first.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
unset MAKEFLAGS # from the make that runs this: its jobserver is not shared

lane() {
  for stage; do
    make --no-print-directory "$stage" 2>&1 | tee "$logs/$stage" | sed -u "s/^/$stage: /" && rm "$logs/$stage"
  done
}

lane test-cross test-web &
lane lint msrv test-rust test-python
wait
failed=$(ls "$logs")
for stage in $failed; do
  step "$stage failed"
  tail -n 40 "$logs/$stage"
done
[ -z "$failed" ] || die "failed:" $failed
say "all passed in $((SECONDS / 60)) min"
