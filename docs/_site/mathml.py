"""Formulas as MathML, which browsers show by themselves: no script, no font and no network is needed.

The translation is docutils' own. What it cannot read is a warning, which ends the build.
"""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

LOG = logging.getLogger(__name__)


def mathml(translator, node, as_block):
    try:
        shown = tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        LOG.warning("%s: %s", node.astext(), error, location=node)
        shown = translator.encode(node.astext())
    return shown.replace("<mo>&ApplyFunction;</mo>", '<mspace width="0.17em"></mspace>')  # log T, not logT


def inline(translator, node):
    translator.body.append(mathml(translator, node, as_block=False))
    raise nodes.SkipNode


def block(translator, node):
    translator.body.append(f'<div class="formula">{mathml(translator, node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
