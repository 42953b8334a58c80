#!/usr/bin/env bash
# The documentation site, site/, from the repository alone. Its tools, the group `docs` of pyproject.toml, are installed into .venv once.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts/setup.sh docs
rm -rf site
"$python" scripts/make_site.py site
say "site/index.html: $(find site -name '*.html' | wc -l) pages"
