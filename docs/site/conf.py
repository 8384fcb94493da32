"""How Sphinx makes the site of what scripts/site has put together."""

import logging
import os
import re

from docutils import nodes
from sphinx import addnodes

project = "Slackline"
author = "the authors of Slackline"
release = version = os.environ["SLACKLINE_VERSION"]

extensions = ["myst_parser", "breathe"]
source_suffix = {".md": "markdown"}
# Anchors are those of GitHub, so that a link to #a-heading holds there and here.
myst_heading_anchors = 6
myst_enable_extensions = ["colon_fence"]

breathe_projects = {"slackline": os.environ["SLACKLINE_DOXYGEN_XML"]}
breathe_default_project = "slackline"
breathe_show_include = False

# A listing may hold an `…` for what is left out, which no lexer knows.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"Slackline {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

# Each header opens the namespaces that others open too. So a page of the API shows what stands in them, and
# not the namespaces; and that they are declared again is nothing to warn of.
NAMESPACE_AGAIN = re.compile(r"Duplicate C\+\+ declaration.*'\.\. cpp:type:: [a-z_]+'\.$", re.S)


def is_worth_a_warning(record):
    return NAMESPACE_AGAIN.match(record.getMessage()) is None


def without_namespaces(app, tree):
    for described in list(tree.findall(addnodes.desc)):
        if described.get("objtype") == "type" and described[0].astext().startswith("namespace "):
            anchors = nodes.target(ids=described[0]["ids"])
            described.replace_self([anchors, *described[-1].children])


def setup(app):
    logging.getLogger("sphinx.sphinx.domains.cpp").addFilter(is_worth_a_warning)
    app.connect("doctree-read", without_namespaces)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
