"""The documentation site: `make docs` builds it from these pages, the public headers, the program and the Python package."""
import os
import re
import sys
from pathlib import Path

tree = Path(__file__).resolve().parent.parent
build = (tree / os.environ.get("BUILD", "build")).resolve()
sys.path[:0] = [str(tree / "docs/site"), str(tree / "python")]
os.environ.setdefault("KRYLOCL_LIBRARY", str(build / "libkrylocl.so.0"))

project = "krylocl"
release = re.search(r'KCL_VERSION "(.*)"', (tree / "include/krylocl.h").read_text()).group(1)
extensions = ["myst_parser", "sphinx.ext.autodoc", "references"]
exclude_patterns = ["site"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
smartquotes = False  # quotes are often those of a program
c_extra_keywords = []  # a field may be called complex
autodoc_typehints = "none"  # the signatures are long enough
pygments_style, pygments_dark_style = "a11y-light", "monokai"  # a contrast of 4.5 and more (WCAG)

highlight_language = "none"
html_theme = "furo"
html_title = f"krylocl {release}"
html_static_path, html_css_files = ["site/static"], ["site.css"]
html_search_scorer = str(tree / "docs/site/scorer.js")
html_copy_source = html_show_copyright = False
