"""How Sphinx makes the site; `python tools/docs.py` calls it on a copy of this folder."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_site"))

URLS = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]

import robai  # noqa: E402 - the installed package

project = "robai"
author = "The robai developers"
copyright = "The robai developers"
version = release = robai.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "reference",
]
exclude_patterns = ["_site", "conf.py", "jupyter_execute", "examples/*.ipynb"]
templates_path = [str(HERE / "_site" / "templates")]
nitpicky = False
python_maximum_signature_line_length = 80

# Markdown: the headings are anchors as on GitHub, and $ is mathematics.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

# Notebooks are stored without outputs and run here; an error ends the build.
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True

# The reference: a page a name, made by _site/reference.py.
autosummary_generate = True
autosummary_imported_members = True
autodoc_default_options = {"member-order": "groupwise"}
autodoc_typehints = "none"  # numpydoc shows the types that docstrings give
numpydoc_show_class_members = False
numpydoc_validation_checks = {"GL06", "GL07"}  # sections of another name or order than numpydoc's
numpydoc_attributes_as_param_list = True
default_role = "autolink"  # `name` is a link where there is something of that name

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / "gallery")],
    "gallery_dirs": ["examples"],
    "filename_pattern": r"/\w+\.py$",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("robai",),
    "backreferences_dir": "reference/used",
    "inspect_global_variables": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10**6,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "capture_repr": (),
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "robai"
html_math_renderer = "mathml"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_sidebars = {page: [] for page in ("index", "start", "mathematics")}  # have no pages below them
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "github_url": URLS["Repository"],
    "show_prev_next": False,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "collapse_navigation": True,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
