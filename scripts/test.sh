#!/usr/bin/env bash
# All checks and tests, in two lanes, since linking, emulators and most tests use one core. A stage that fails does not stop the others.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
begin_stages
unset MAKEFLAGS # from the make that runs this: its jobserver is not shared

lane() {
  for stage; do
    stage "$stage" make --no-print-directory "$stage"
  done
}

lane test-cross &
lane lint msrv test-rust test-python test-web
wait
failed_stages
say "all passed in $((SECONDS / 60)) min"
