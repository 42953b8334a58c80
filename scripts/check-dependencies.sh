#!/usr/bin/env bash
# What Cargo.lock brings in, held to deny.toml by cargo-deny: licences, sources, bans.
#   check-dependencies.sh [--advisories]    also known vulnerabilities, whose database is fetched: what it says changes without a commit
# Left out where cargo-deny is not installed (`cargo install --locked cargo-deny` compiles for minutes), and that is said loudly.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
PATH=$VIRTUAL_ENV/bin:$PATH
checks=(bans licenses sources)
[ "${1:-}" != --advisories ] || checks+=(advisories)

step "dependencies: ${checks[*]}"
if command -v cargo-deny >/dev/null; then
  cargo-deny --locked --log-level warn check "${checks[@]}"
else
  printf '\n!! NOT CHECKED, for want of cargo-deny: %s of dependencies\n' "${checks[*]}" >&2
fi
