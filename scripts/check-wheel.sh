#!/usr/bin/env bash
# Builds the wheel and uses it in an empty environment: at most 9 MB, with licences and a list of what is compiled in (SBOM, which maturin
# writes), imported without NumPy. How long the import takes is printed, not asserted: it is a property of the machine and of what else it
# does.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

step "wheel"
rm -rf dist
"$VIRTUAL_ENV/bin/maturin" build --release --quiet --out dist
wheel=$(ls dist/*.whl)
"$python" scripts/pack_wheel.py "$wheel"
check_size "$wheel"

contents=$("$python" -m zipfile --list "$wheel")
for part in licenses/LICENSE-{MIT,APACHE,THIRD-PARTY} 'sboms/.*\.json'; do
  grep -q "\.dist-info/$part " <<<"$contents" || die "the wheel has no $part"
done

bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
"$python" -m venv "$bare"
"$bare/bin/python" -m pip install -q --disable-pip-version-check --no-index "$wheel"
cp scripts/try_wheel.py "$bare"
cd "$bare"    # away from the source tree, so that the installed package is imported
bin/python try_wheel.py
bin/python - <<'E2'
import importlib.util, subprocess, sys
assert importlib.util.find_spec("numpy") is None, "this environment was meant to be bare"
# CPU time, since other test stages run at the same time
clock = "import time; t = time.process_time(); import flex; print(time.process_time() - t); assert flex.asarray([1.5, 2.0]).tolist() == [1.5, 2.0]"
best = min(float(subprocess.check_output([sys.executable, "-c", clock])) for _ in range(10))
print(f"import flex: {best * 1e3:.1f} ms")
E2
