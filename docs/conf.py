"""The site: Sphinx reads these Markdown pages, and the reference from the docstrings. ``make docs`` builds it."""

import sys
from pathlib import Path

import typer
from docutils import nodes
from docutils.parsers.rst import Directive
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))  # the tree beside these pages, whatever else is installed

import kate  # noqa: E402
from kate.cli.app import COMMANDS, app  # noqa: E402

project = "Kate"
author = "the authors of Kate"
copyright = author  # noqa: A001 - Sphinx's name
release = version = kate.__version__

extensions = [
    "myst_nb",  # Markdown and notebooks
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]

# make docs takes every warning as an error, broken links and anchors among them
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # the tests execute the notebooks; the site shows the outputs that are committed
nb_merge_streams = True

autodoc_member_order = "bysource"
_OF_SCIKIT_LEARN = (
    "get_metadata_routing get_params set_fit_request set_output set_params set_transform_request"
)
autodoc_default_options = {"exclude-members": ",".join(_OF_SCIKIT_LEARN.split())}
autodoc_typehints = "none"  # the docstrings say what a parameter is; signatures stay short enough to read
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "Kate"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fa8", "color-brand-content": "#1f5fa8"},
    "dark_css_variables": {"color-brand-primary": "#8fbcf0", "color-brand-content": "#8fbcf0"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def commands():
    """The words of every command: ["fit"], ["index", "add"], …"""
    top = typer.main.get_command(app)
    for name in COMMANDS:
        yield [name]
        yield from ([name, inner] for inner in getattr(top.get_command(None, name), "commands", {}))


class KateCommands(Directive):
    """The help of every command, each under a heading."""

    def run(self):
        sections = []
        for words in commands():
            title = " ".join(["kate", *words])
            shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"}).output.strip()
            section = nodes.section(ids=[nodes.make_id(title)], names=[title])
            section += nodes.title("", title)
            section += nodes.literal_block(shown, shown, language="text")
            sections.append(section)
        return sections


def setup(site):
    site.add_directive("kate-commands", KateCommands)
