"""`steps(node)`: a graph computed and back-propagated step by step, with a slider, in JupyterLab."""

from typing import TYPE_CHECKING, Any

from tinygrad_cl.viz.film import film_of, name_of
from tinygrad_cl.viz.graph import plain_scene
from tinygrad_cl.viz.nodes import read, read_graph
from tinygrad_cl.viz.replay import can_recompute, changeable, recompute, with_data
from tinygrad_cl.viz.scene import MARGIN
from tinygrad_cl.viz.svg import Picture, text

if TYPE_CHECKING:
    from tinygrad_cl.viz.stepper_widget import StepsWidget

MOST_NODES = 60


def steps(node: Any, *leaves: Any) -> "StepsWidget | Picture":
    """Walk through a graph, forward and then backward: values and gradients appear one edge at a time.

    node     a node of any class, as for `draw`; or a function that computes one from `leaves`

    The gradients are those that the node's own `backward` assigns, in its order. Where the inputs can be changed, the
    graph is computed again with the node's own operators. Without widgets (GitHub, an exported page) the steps stand
    below the picture.

    TypeError if there is nothing like a node; ValueError for more than 60 nodes.

    >>> from tinygrad_cl.scalar import Value
    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> Film.of(a * b).steps[1]["say"]
    'v2 = a · b = 2 · (−3) = −6.'
    """
    film = Film.of_function(node, leaves) if leaves else Film.of(node)
    try:
        import anywidget  # noqa: F401 (takes a third of a second, and only this needs it)
    except ImportError:
        return film.strip()
    from tinygrad_cl.viz.stepper_widget import StepsWidget

    return StepsWidget(film)


class Film:
    """The steps of one graph.

    steps    see `viz.film.film_of`
    note     a sentence on what could not be shown, or ""
    inputs   [(name, number), …] that can be changed
    """

    def __init__(self, graph, compute, inputs):
        self.graph, self.compute, self.inputs = graph, compute, inputs
        names = [name_of(graph, i) if i in graph.computed else "" for i in range(len(graph.nodes))]
        self.scene = plain_scene(graph, names)
        self.steps, self.note = film_of(graph, graph.nodes[min(graph.results)])

    @classmethod
    def of(cls, node):
        """The film of a node; its inputs can be changed if its ops can be applied again."""
        graph = read_graph([node], MOST_NODES)
        numbers = changeable(graph) if can_recompute(graph) else []

        def compute(values):
            return cls.of(recompute(graph, dict(zip(numbers, values)))[0])

        return cls(graph, compute, [(name_of(graph, i), read(graph.nodes[i], "data")) for i in numbers])

    @classmethod
    def of_function(cls, function, leaves):
        """The film of what a function computes from leaves."""
        graph = read_graph([function(*leaves)], MOST_NODES)
        names = [str(read(leaf, "label")) or f"input {i}" for i, leaf in enumerate(leaves)]

        def compute(values):
            return cls.of_function(function, [with_data(leaf, value) for leaf, value in zip(leaves, values)])

        return cls(graph, compute, [(name, read(leaf, "data")) for name, leaf in zip(names, leaves)])

    def svg(self):
        """The picture whose parts the steps name; data and gradients are filled in by the steps."""
        return self.scene.picture("steps").svg

    def strip(self):
        """A Picture for where no widget runs: the graph as it ends, and the steps in words below it."""
        parts, top = self.scene.parts(), self.scene.height + 12
        lines = [f"{i}. {each['say']}" for i, each in enumerate(self.steps)] + ([self.note] if self.note else [])
        parts += [text(MARGIN, top + 19 * i, line, size=12.5) for i, line in enumerate(lines)]
        width = max(self.scene.width, MARGIN * 2 + 6.9 * max(map(len, lines)))
        return Picture(parts, width, top + 19 * len(lines), f"{len(self.steps)} steps")
