"""Sphinx settings of the site: docs/ and the solved lessons with their outputs. `make site` builds it."""

project = "Automatic differentiation, built three times"
author = "the makers of the course"
extensions = ["myst_nb"]
root_doc = "docs/site/index"
include_patterns = ["docs/**.md", "solutions/*.ipynb", "README.md", "CHANGELOG.md"]
myst_enable_extensions = ["dollarmath"]
suppress_warnings = [
    "myst.xref_missing",  # docs link to files of the repository that are not pages
    "myst.header",  # a lesson's heading levels may skip one
    "mystnb.unknown_mime_type",  # the result that a check stores for `make progress`
]

nb_execution_mode = "cache"  # run a lesson again only when it has changed
nb_execution_cache_path = ".site-cache"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
# Widgets do not run in a static page; it shows the picture of the steps instead.
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]

html_theme = "sphinx_book_theme"
html_title = project
html_copy_source = False
html_extra_path = ["extra"]  # index.html redirects to the root document
