"""Publications whose experiments `robai reproduce` plays: a module of data each."""

from robai.paper.gallery import zhang_ying2023
from robai.paper.study import Study

GALLERY: dict[str, Study] = {study.name: study for study in (zhang_ying2023.STUDY,)}
"""By the names of the command line; the first is the paper that this package is of."""
