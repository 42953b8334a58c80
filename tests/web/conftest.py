from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site() -> Path:
    """The output folder of scripts/build-web.sh."""
    return ROOT / "target" / "web"
