from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site() -> Path:
    """What scripts/build-web.sh made."""
    return ROOT / "target" / "web"
