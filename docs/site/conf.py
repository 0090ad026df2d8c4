"""The site: docs/ and the solved lessons, run. `make site` builds it from the course's folder."""

project = "Automatic differentiation, built three times"
author = "the makers of the course"
extensions = ["myst_nb"]
root_doc = "docs/site/index"
include_patterns = ["docs/**.md", "solutions/*.ipynb", "README.md", "CHANGELOG.md"]
myst_enable_extensions = ["dollarmath"]
suppress_warnings = [
    "myst.xref_missing",  # docs link to files of the repository, which are no pages
    "myst.header",  # a lesson's headings follow its story
    "mystnb.unknown_mime_type",  # the verdict that a check leaves for `make progress`
]

nb_execution_mode = "cache"  # a lesson is run again when it has changed
nb_execution_cache_path = ".site-cache"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
# No widget runs in a page; the picture of the steps stands in for it.
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]

html_theme = "sphinx_book_theme"
html_title = project
html_copy_source = False
html_extra_path = ["extra"]  # index.html leads to the root document
