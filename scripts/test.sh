#!/usr/bin/env bash
# All checks and tests, in three lanes, since linking, emulators and most tests use one core. A stage that fails does not stop the others.
# The last line names what was not tested for want of tools; with CI=true that is a failure if this machine offers them.
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
lane test-burn &
lane lint msrv test-rust test-python test-web test-docs
wait
say "$(stage_times)"
failed_stages
left=$(left_out) offered=$(left_out --offered) took="$((SECONDS / 60)) min"
[ "${CI:-}" != true ] || [ -z "$offered" ] || die "passed in $took, but this machine could have tested: $offered"
if [ -z "$left" ]; then say "all passed in $took"; else say "passed in $took; NOT TESTED: $left"; fi
