#!/usr/bin/env bash
# The page of examples/web: its modules under wasmtime, and all of it in headless Chromium (Debian's package, where apt may install it).
# Screenshots are left in target/web-test. The browser tests are skipped only if the browser can't be installed.
#   CHROMIUM=/path/to/a/chrome scripts/test-web.sh    uses that one
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

step "examples/web"
started=$SECONDS
scripts/build-web.sh
tests=(tests/web/test_module.py)
if find_chromium; then
  tests+=(tests/web/test_page.py)
else
  no_browser=1
fi
"$python" -m pytest -q "${tests[@]}"
say "examples/web: $((SECONDS - started)) s"

[ -z "${no_browser:-}" ] || not_tested "the page of examples/web" Chromium "${browser[@]}"
