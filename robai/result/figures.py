"""Pages, and the figures of `robai.plotting`, as methods; what they need is imported when one is called."""

import os
from typing import TYPE_CHECKING, Any

from robai._base.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robai.result import Identification, Result


class Reported:
    """What can be shown as a page."""

    def _page(self, title: str | None) -> str:
        raise NotImplementedError

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a page with figures and tables: one file of HTML that needs no others.

        Figures answer to the pointer, can be zoomed, and hide a curve when its name is pressed. Nothing is
        fetched from anywhere, and Matplotlib is not needed. A crash leaves the old file or the new one.

        Parameters
        ----------
        path : path
            Exactly where; no suffix is added.
        title : str or None
            Of the page; one of its own if None.

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> played = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     played.report(os.path.join(folder, "page.html"), title="UCB on two arms")
        ...     os.listdir(folder)
        ['page.html']
        """
        if not (title is None or isinstance(title, str)):
            raise TypeError(f"title must be a string, got {title!r}")
        write_atomically(path, self._page(title).encode(errors="backslashreplace"))


class Plottable(Reported):
    """What can be drawn as a list of results."""

    def _drawn(self) -> "list[Result]":
        raise NotImplementedError

    def _page(self, title: str | None) -> str:
        from robai.result.pages import results_page

        return results_page(self._drawn(), title)

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw mean regret against rounds with its confidence band; see `robai.plotting.plot_regret`.

        Parameters
        ----------
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.
        **options
            Of `robai.plotting.plot_regret`.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> played = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0)
        >>> played.plot(lower_bound=2.0).get_ylabel()
        'mean cumulative regret'
        """
        from robai.plotting import plot_regret

        return plot_regret(self._drawn(), ax, **options)

    def plot_commitment(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the distribution of the commitment time; see `robai.plotting.plot_commitment`.

        Parameters
        ----------
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.
        **options
            Of `robai.plotting.plot_commitment`.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> played = robai.simulate(robai.EOCPUG(), robai.Gaussian([1, 0]), 1000, 100, rng=0)
        >>> played.plot_commitment().get_ylabel()
        'share of runs committed'
        """
        from robai.plotting import plot_commitment

        return plot_commitment(self._drawn(), ax, **options)

    def plot_tradeoff(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw regret against commitment time; see `robai.plotting.plot_tradeoff`.

        Parameters
        ----------
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.
        **options
            Of `robai.plotting.plot_tradeoff`.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> policies = [robai.EOCPUG(), robai.BAIETC()]
        >>> played = robai.compare(policies, robai.Gaussian([1, 0]), 1000, 100, rng=0)
        >>> played.plot_tradeoff().get_xlabel()
        'mean commitment time, rounds'
        """
        from robai.plotting import plot_tradeoff

        return plot_tradeoff(self._drawn(), ax, **options)

    def plot_wrong_commit(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw how often commitments are wrong; see `robai.plotting.plot_wrong_commit`.

        Parameters
        ----------
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.
        **options
            Of `robai.plotting.plot_wrong_commit`.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> played = robai.simulate(robai.EOCPUG(), robai.Gaussian([1, 0]), 1000, 100, rng=0)
        >>> played.plot_wrong_commit(confidence=0.9).get_xlabel()
        'probability of a wrong commitment, 90 % interval'
        """
        from robai.plotting import plot_wrong_commit

        return plot_wrong_commit(self._drawn(), ax, **options)

    def plot_pulls(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the share of the rounds that went to each arm; see `robai.plotting.plot_pulls`.

        Parameters
        ----------
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> played = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0)
        >>> [text.get_text() for text in played.plot_pulls().get_legend().get_texts()]
        ['arm 0 (best)', 'arm 1']
        """
        from robai.plotting import plot_pulls

        return plot_pulls(self._drawn(), ax)

    def plot_final_regret(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the distribution of final regret; see `robai.plotting.plot_final_regret`.

        Parameters
        ----------
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> played = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0)
        >>> played.plot_final_regret().get_xlabel()
        'final regret: 5, 25, 50, 75, 95 %; dot: mean; cross: largest'
        """
        from robai.plotting import plot_final_regret

        return plot_final_regret(self._drawn(), ax)


class Found(Reported):
    """What can be drawn as a list of identifications."""

    def _drawn(self) -> "list[Identification]":
        raise NotImplementedError

    def _page(self, title: str | None) -> str:
        from robai.result.identification_page import identifications_page

        return identifications_page(self._drawn(), title)

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the distribution of the stopping time; see `robai.plotting.plot_stopping_time`.

        Parameters
        ----------
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.
        **options
            Of `robai.plotting.plot_stopping_time`.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
        >>> found.plot().get_ylabel()
        'share of runs that have stopped'
        """
        from robai.plotting import plot_stopping_time

        return plot_stopping_time(self._drawn(), ax, **options)

    def plot_proportions(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the shares of the arms beside w*; see `robai.plotting.plot_proportions`.

        Parameters
        ----------
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.
        **options
            Of `robai.plotting.plot_proportions`.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
        >>> [text.get_text() for text in found.plot_proportions().get_legend().get_texts()]
        ['optimal, w*', 'TTUCB()']
        """
        from robai.plotting import plot_proportions

        return plot_proportions(self._drawn(), ax, **options)

    def plot_error(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw how often a run fails; see `robai.plotting.plot_error`.

        Parameters
        ----------
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.
        **options
            Of `robai.plotting.plot_error`.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
        >>> found.plot_error().get_xlabel()
        'probability of a wrong arm, 95 % interval'
        """
        from robai.plotting import plot_error

        return plot_error(self._drawn(), ax, **options)
