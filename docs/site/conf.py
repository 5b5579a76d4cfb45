"""Sphinx's settings for the site. `make site` builds it; tools/site.py writes the sources.

Sphinx with furo and myst-parser, because the documents stay the Markdown that they are, a broken
link between them is a warning and so an error, the search runs in the browser, and the built pages
fetch nothing from other servers.
"""

import os

project = "kraftool"
author = "the kraftool project"
extensions = ["myst_parser"]
myst_heading_anchors = 4
smartquotes = False  # it would make one dash of --option
html_theme = "furo"
html_title = "kraftool"
html_baseurl = os.environ.get("KRAFTOOL_SITE", "")
html_static_path: list[str] = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None
pygments_style = "default"
pygments_dark_style = "native"
highlight_language = "text"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1f5fa8",
        "color-brand-content": "#1f5fa8",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6cb6ff",
        "color-brand-content": "#6cb6ff",
    },
    "navigation_with_keys": True,
}
