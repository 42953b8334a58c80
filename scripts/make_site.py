#!/usr/bin/env python3
"""Builds the documentation site: make_site.py OUTPUT. Pages of the repository, generated pages of the reference and docs/site are put
together in target/site-source, from which Sphinx writes HTML. Any warning of Sphinx is an error, so links lead somewhere."""

import shutil
import subprocess
import sys
from pathlib import Path

import site_pages
from site_api import ROOT, Reference

SOURCE = ROOT / "target" / "site-source"


def main(output: Path) -> int:
    shutil.rmtree(SOURCE, ignore_errors=True)
    settings = ROOT / "docs" / "site"
    shutil.copytree(settings, SOURCE, ignore=shutil.ignore_patterns("*.toml", "*.md"))
    reference = Reference()
    reference.write(SOURCE / "api")
    site_pages.write(SOURCE, reference)
    cache = ROOT / "target" / "site-cache"
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "auto", "-d", cache]
    return subprocess.run([*sphinx, SOURCE, output], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
