# SPDX-License-Identifier: BSD-2-Clause
"""Settings of Sphinx for the pages that pages.py made."""

project = "libfpemu"
author = copyright = "the authors of libfpemu"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
html_theme = "furo"
html_title = "libfpemu"
html_static_path = ["_static"]
html_css_files = ["wrap.css"]
html_show_sourcelink = False
html_copy_source = False
myst_heading_anchors = 4
highlight_language = "text"  # commands and outputs
# A document is written for a forge first: its heading levels may begin at 2, as in a README that is a part of a page.
suppress_warnings = ["myst.header"]
