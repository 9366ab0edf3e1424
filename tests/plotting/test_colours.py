"""Colours are told apart with any colour vision, on white and on a dark page; a policy keeps its own."""

import itertools

import numpy as np
import pytest
from support.examples import irregular

from robai.plotting import plot_regret, plot_scaling
from robai.plotting.style import COLOURS, COLOURS_ON_DARK, one_colour_each
from robai.result import Comparison

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# What is seen without one kind of cones, of linear colours: Machado, Oliveira and Fernandes (2009).
VISIONS = {
    "all": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}
# From linear colours to Oklab, in which distances are about as they look: Ottosson (2020).
CONES = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566]]
CONES += [[0.0883024619, 0.2817188376, 0.6299787005]]
LAB = [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099]]
LAB += [[0.0259040371, 0.7827717662, -0.808675766]]


def linear(colours):
    values = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in colours])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def closest(colours, vision):
    """The smallest distance of two of them."""
    seen = np.clip(linear(colours) @ np.transpose(VISIONS[vision]), 0.0, 1.0)
    lab = np.cbrt(seen @ np.transpose(CONES)) @ np.transpose(LAB)
    return min(np.linalg.norm(one - other) for one, other in itertools.combinations(lab, 2))


def contrast(colours, page):
    light, back = (linear(each) @ [0.2126, 0.7152, 0.0722] + 0.05 for each in (colours, [page]))
    return np.maximum(light, back) / np.minimum(light, back)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("colours", [COLOURS, COLOURS_ON_DARK], ids=["light", "dark"])
def test_colours_are_as_far_apart_as_okabe_and_ito_s(colours, vision):
    assert closest(colours, vision) > min(closest(OKABE_ITO, each) for each in VISIONS)


def test_colours_stand_out_from_the_page():
    assert contrast(COLOURS, "#ffffff").min() > 3.0
    assert contrast(COLOURS_ON_DARK, "#15181c").min() > 3.0
    assert len(COLOURS) == len(COLOURS_ON_DARK)


def colour_of(ax, label):
    (line,) = (line for line in ax.lines if line.get_label() == label)
    return line.get_color()


def test_a_policy_has_one_colour_in_all_figures():
    with one_colour_each(["A", "B", "$C$"]):
        first = plot_regret(Comparison([irregular("A"), irregular("B"), irregular("$C$")]).values())
        second = plot_regret(Comparison([irregular("$C$"), irregular("B")]).values())
        scaled = plot_scaling([irregular("B")])
        assert colour_of(second, "B") == colour_of(first, "B") == COLOURS[1]
        assert colour_of(second, r"\$C\$") == colour_of(first, r"\$C\$") == COLOURS[2]
        assert scaled.lines[0].get_color() == COLOURS[1]
    assert plot_regret(irregular("B")).lines[0].get_color() == COLOURS[0]
