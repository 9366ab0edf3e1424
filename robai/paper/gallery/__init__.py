"""Publications whose experiments `robai reproduce` plays: a module of data each."""

from robai.paper.gallery import (
    etc2016,
    garivier2016,
    garivier_cappe2011,
    jin2021,
    kaufmann2012,
    zhang_ying2023,
)
from robai.paper.study import Study

GALLERY: dict[str, Study] = {
    module.STUDY.name: module.STUDY
    for module in (zhang_ying2023, garivier2016, garivier_cappe2011, kaufmann2012, etc2016, jin2021)
}
"""By the names of the command line; the first is the paper that this package is of."""
