#!/usr/bin/env bash
# The documentation site: it builds without a warning, and its pages in headless Chromium have no broken link and no failing script, make no
# request to other machines, and are found by the search. Screenshots are left in target/docs-test.
#   CHROMIUM=/path/to/a/chrome scripts/test-docs.sh    uses that one
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

step "documentation"
scripts/build-docs.sh
find_chromium || { not_tested "the pages of the documentation" Chromium "${browser[@]}" && exit; }
"$python" -m pytest -q tests/web/test_docs.py
