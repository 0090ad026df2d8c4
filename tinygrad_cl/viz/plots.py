"""The plots that the lessons share: one style, with colours and markers that colour-blind readers can tell apart.

No pyplot: a plot is an object that displays itself, whatever backend a notebook, a test or a grader uses. matplotlib is
imported by the first plot, because the import is slow and a notebook that is being graded plots nothing.
"""

import io
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tinygrad_cl.viz.svg import BLUE, GREEN, INK, LINE, MUTED, ORANGE, PALE, PURPLE, SKY, VERMILLION, Displayed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES: list[dict[str, Any]] = [
    dict(color=c, marker=m, linestyle=s)
    for c, m, s in zip(
        (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY), "os^DvP", ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
    )
]

LOOK: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 10.5,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK,
    "axes.titlesize": 11.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,  # a grid line over a bar looks like a pause
    "grid.color": "#e3e7eb",
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "svg.hashsalt": "tinygrad_cl",  # the same plot gives the same SVG text
}


def look() -> Any:
    """A context manager with the matplotlib settings of all plots."""
    import matplotlib

    return matplotlib.rc_context(LOOK)  # type: ignore[arg-type] # it lists every name that it knows


def engineering(unit=""):
    """A formatter of numbers with metric prefixes: 2 k, 3 M."""
    from matplotlib.ticker import EngFormatter

    return EngFormatter(unit)


class Plot(Displayed):
    """A figure with one pair of axes; `axes` and `figure` are matplotlib's, so you can add to it.

    >>> plot = Plot("a title", "x", "y")
    >>> _ = plot.axes.plot([1, 2], [3, 4])
    >>> plot
    Plot(a title)
    """

    figure: "Figure"
    axes: "Axes"

    def __init__(self, title: str, xlabel: str, ylabel: str, width: float = 6.6, height: float = 3.6) -> None:
        from matplotlib.figure import Figure

        with look():
            self.figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
            self.axes = self.figure.add_subplot(title=title, xlabel=xlabel, ylabel=ylabel)
        self.title = title

    def legend(self, **options: Any) -> None:
        """Add a legend in the common style; the options are those of matplotlib's legend."""
        with look():
            self.axes.legend(**options)

    def _repr_svg_(self) -> str:
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        text = io.StringIO()
        with look():
            FigureCanvasSVG(self.figure).print_svg(text, metadata={"Date": None})
        return text.getvalue()

    def __repr__(self) -> str:
        return f"Plot({self.title})"


def plot_lines(
    x: ArrayLike,
    curves: Mapping[str, ArrayLike],
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    log: str = "",
    markers: bool = True,
) -> Plot:
    """Curves over common x values; `curves` is {name: y values}, `log` names the logarithmic axes: "", "x", "y", "xy".

    A value that is not finite, or not positive on a logarithmic axis, leaves a gap. Over whole numbers, the ticks are
    whole numbers.
    """
    plot = Plot(title, xlabel, ylabel)
    plot.axes.set(xscale="log" if "x" in log else "linear", yscale="log" if "y" in log else "linear")
    if "x" not in log and np.asarray(x).dtype.kind in "iu":
        from matplotlib.ticker import MaxNLocator

        plot.axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    for (name, y), style in zip(curves.items(), cycle(STYLES)):
        y = np.array(y, dtype=float)
        y[~np.isfinite(y) | ((y <= 0) & ("y" in log))] = np.nan
        plot.axes.plot(x, y, label=name, **(style if markers else {**style, "marker": None}))
    if len(curves) > 1:
        plot.legend()
    return plot


def plot_step_size(
    steps: ArrayLike, errors: Mapping[str, ArrayLike], title: str = "Central differences: error over step size"
) -> Plot:
    """The error of a finite difference over its step size h, both logarithmic: the V with its best h at the bottom.

    steps     the step sizes h
    errors    {name: |difference quotient − derivative| for each h}; an error of exactly 0 leaves a gap
    """
    return plot_lines(steps, errors, title, "step size h", "error", log="xy")


def plot_times(
    sizes: ArrayLike, seconds: Mapping[str, ArrayLike], title: str = "", xlabel: str = "numbers in the array"
) -> Plot:
    """Running times over problem sizes, both logarithmic; `seconds` is {name: seconds for each size}."""
    plot = plot_lines(sizes, seconds, title, xlabel, "time", log="xy")
    plot.axes.yaxis.set_major_formatter(engineering("s"))
    return plot


def plot_timeline(rows: Sequence[tuple[str, float, float, float]], title: str = "What the device did") -> Plot:
    """Commands of a device over time, a lane for each name; `rows` is [(name, queued, start, end)] in seconds.

    A bar is the time a command ran. The line before it is the time that it waited in the queue. Where no lane has a
    bar, the device was idle.
    """
    lanes = {name: [row[1:] for row in rows if row[0] == name] for name, *_ in rows}
    plot = Plot(title, "time", "command", height=1.3 + 0.3 * len(lanes))
    for lane, (times, style) in enumerate(zip(lanes.values(), cycle(STYLES))):
        plot.axes.hlines(
            [lane] * len(times),
            [queued for queued, _, _ in times],
            [start for _, start, _ in times],
            color=style["color"],
            linewidth=0.6,
            alpha=0.6,
        )
        plot.axes.broken_barh(
            [(start, end - start) for _, start, end in times], (lane - 0.35, 0.7), color=style["color"]
        )
    plot.axes.set_yticks(range(len(lanes)), list(lanes))
    plot.axes.invert_yaxis()
    plot.axes.locator_params(axis="x", nbins=6)  # labels such as «1.25 ms» are wide
    plot.axes.xaxis.set_major_formatter(engineering("s"))
    return plot


def plot_losses(curves: Mapping[str, ArrayLike], title: str = "Loss", smooth: int = 1) -> Plot:
    """The loss over training steps, on a logarithmic axis; `curves` is {name: a loss for each step}, of any lengths.

    smooth   the number of steps in the running mean; the single losses are shown behind it, pale
    """
    plot = Plot(title, "step", "loss")
    plot.axes.set_yscale("log")
    for (name, losses), style in zip(curves.items(), cycle(STYLES)):
        losses = np.array(losses, dtype=float)
        losses[~np.isfinite(losses) | (losses <= 0)] = np.nan
        width = max(1, min(smooth, len(losses)))
        mean = np.convolve(losses, np.ones(width) / width, "valid")
        if width > 1:
            plot.axes.plot(losses, color=style["color"], alpha=0.25, linewidth=0.8)
        plot.axes.plot(
            np.arange(width - 1, len(losses)), mean, label=name, color=style["color"], linestyle=style["linestyle"]
        )
    plot.legend()
    return plot


def plot_boundary(
    score: Callable[[np.ndarray], ArrayLike],
    points: ArrayLike,
    labels: ArrayLike,
    title: str = "Decision boundary",
    cells: int = 60,
    xlabel: str = "x₁",
    ylabel: str = "x₂",
) -> Plot:
    """Where a classifier changes its mind: points of the plane by label, and the line on which its score is 0.

    score    takes an (n, 2) array of points and gives n numbers, above 0 for the second label
    points   (n, 2)
    labels   n values, of two kinds
    """
    points, labels = np.asarray(points, dtype=float), np.asarray(labels)
    low, high = points.min(0), points.max(0)
    margin = 0.1 * (high - low) + 1e-9
    x, y = (np.linspace(a, b, cells) for a, b in zip(low - margin, high + margin))
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    scores = np.asarray(score(grid.reshape(-1, 2)), dtype=float).reshape(cells, cells)
    plot = Plot(title, xlabel, ylabel, width=5.8, height=4.4)
    reach = max(float(np.abs(scores).max()), 1e-9)
    plot.axes.contourf(x, y, scores, levels=[-reach, 0, reach], colors=[PALE[ORANGE], PALE[SKY]], extend="both")
    if scores.min() < 0 < scores.max():
        plot.axes.contour(x, y, scores, levels=[0], colors=[INK], linewidths=1.2)
    for kind, colour, marker in zip(np.unique(labels), (ORANGE, BLUE), "os"):
        plot.axes.scatter(
            points[labels == kind][:, 0],
            points[labels == kind][:, 1],
            s=22,
            color=colour,
            marker=marker,
            edgecolors="white",
            linewidths=0.5,
            label=f"{kind}",
            zorder=3,
        )
    plot.axes.grid(False)
    plot.legend(title="label", loc="upper left", bbox_to_anchor=(1, 1))  # beside the points, never over one
    return plot


def plot_memory(
    curves: Mapping[str, Sequence[float]], title: str = "Memory over time", xlabel: str = "operation"
) -> Plot:
    """Bytes that are held after each operation; `curves` is {name: bytes}. The largest of each is marked."""
    plot = Plot(title, xlabel, "bytes")
    for (name, held), style in zip(curves.items(), cycle(STYLES)):
        top = int(np.argmax(held))
        plot.axes.step(
            range(len(held)), held, where="post", color=style["color"], linestyle=style["linestyle"], label=name
        )
        plot.axes.plot(top, held[top], color=style["color"], marker=style["marker"])
    plot.axes.set_ylim(bottom=0)
    plot.axes.yaxis.set_major_formatter(engineering("B"))
    plot.legend()
    return plot


def plot_roofline(
    kernels: Mapping[str, tuple[float, float]], peak: float, bandwidth: float, title: str = "Roofline"
) -> Plot:
    """How close kernels come to the limits of the device (Williams, Waterman, Patterson 2009).

    kernels     {name: (operations per byte moved, operations per second)}
    peak        the most operations per second that the device was seen to compute
    bandwidth   the most bytes per second that its memory was seen to move

    No kernel is faster than the device. So a kernel above a limit shows that the limit was measured too low (on a busy
    machine, say), and raises it.
    """
    plot = Plot(title, "operations per byte", "operations per second", height=4.2)
    peak = max([peak, *(speed for _, speed in kernels.values())])
    bandwidth = max([bandwidth, *(speed / intensity for intensity, speed in kernels.values() if speed < peak)])
    intensities = [intensity for intensity, _ in kernels.values()]
    ridge = peak / bandwidth
    x = np.geomspace(min([*intensities, ridge]) / 8, max([*intensities, ridge]) * 8, 200)
    plot.axes.plot(x, np.minimum(peak, bandwidth * x), color=MUTED, linewidth=1.4)
    plot.axes.text(x[-1], 1.1 * peak, "computing: the peak ", ha="right", va="bottom", color=MUTED)
    above = (bandwidth * x[0] * peak**3) ** 0.25  # where the slanted line has left room, on its left
    plot.axes.text(1.2 * x[0], above, "memory: the bandwidth", color=MUTED)
    for (name, (intensity, speed)), style in zip(kernels.items(), cycle(STYLES)):
        plot.axes.plot(
            intensity,
            speed,
            color=style["color"],
            marker=style["marker"],
            linestyle="",
            markersize=8,
            label=f"{name}: {speed / min(peak, bandwidth * intensity):.0%} of its roof",
        )
    plot.axes.set(xscale="log", yscale="log")
    plot.axes.yaxis.set_major_formatter(engineering(""))
    plot.legend(loc="upper left", bbox_to_anchor=(0, -0.16), ncols=2)
    return plot


def seconds_per_call(function: Callable[[], object], budget: float = 0.1) -> float:
    """The median time of `function()` over as many calls as fit into the budget of seconds: 3 to 500."""
    times: list[float] = []
    while len(times) < 3 or (sum(times) < budget and len(times) < 500):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))
