"""Settings of Sphinx. scripts/make_site.py runs it on pages that it puts together."""

import builtins
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]

project = "flex"
version = release = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"][
    "version"
]
extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "index"
exclude_patterns = ["files"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

# Signatures: one parameter a line if they are long, types without their module.
python_maximum_signature_line_length = 100
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
smartquotes = False  # of strings in docstrings: code is typed as it stands
highlight_language = "text"
copybutton_prompt_text = ">>> "
copybutton_prompt_is_regexp = False

html_theme = "furo"
html_title = f"flex {version}"
html_favicon = "static/flex.svg"
html_static_path = ["static"]
html_css_files = ["flex.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False


def plain_builtins(_: Sphinx, page: nodes.document) -> None:
    """`bool` in a signature is Python's, and no link to `flex.bool`."""
    for reference in list(page.findall(addnodes.pending_xref)):
        if reference.get("reftype") == "class" and hasattr(builtins, reference["reftarget"]):
            reference.replace_self(nodes.Text(reference["reftarget"]))


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", plain_builtins)
