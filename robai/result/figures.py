"""Pages, and the figures of `robai.plotting`, as methods; what they need is imported when one is called."""

import os
from typing import TYPE_CHECKING, Any

from robai._base.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robai.result import Result


class Reported:
    """What can be shown as a page."""

    def _page(self, title: str | None) -> str:
        raise NotImplementedError

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a page with figures and tables: one file of HTML, at exactly `path`, that needs no others.

        Figures answer to the pointer, can be zoomed, and hide a curve when its name is pressed. Nothing is
        fetched from anywhere, and Matplotlib is not needed. A crash leaves the old file or the new one.
        """
        if not (title is None or isinstance(title, str)):
            raise TypeError(f"title must be a string, got {title!r}")
        write_atomically(path, self._page(title).encode())


class Plottable(Reported):
    """What can be drawn as a list of results."""

    def _drawn(self) -> "list[Result]":
        raise NotImplementedError

    def _page(self, title: str | None) -> str:
        from robai.result.pages import results_page

        return results_page(self._drawn(), title)

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw mean regret against rounds with its confidence band; see `robai.plotting.plot_regret`."""
        from robai.plotting import plot_regret

        return plot_regret(self._drawn(), ax, **options)

    def plot_commitment(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the distribution of the commitment time; see `robai.plotting.plot_commitment`."""
        from robai.plotting import plot_commitment

        return plot_commitment(self._drawn(), ax, **options)

    def plot_tradeoff(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw regret against commitment time; see `robai.plotting.plot_tradeoff`."""
        from robai.plotting import plot_tradeoff

        return plot_tradeoff(self._drawn(), ax, **options)

    def plot_wrong_commit(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw how often commitments are wrong; see `robai.plotting.plot_wrong_commit`."""
        from robai.plotting import plot_wrong_commit

        return plot_wrong_commit(self._drawn(), ax, **options)

    def plot_pulls(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the share of the rounds that went to each arm; see `robai.plotting.plot_pulls`."""
        from robai.plotting import plot_pulls

        return plot_pulls(self._drawn(), ax)

    def plot_final_regret(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the distribution of final regret; see `robai.plotting.plot_final_regret`."""
        from robai.plotting import plot_final_regret

        return plot_final_regret(self._drawn(), ax)
