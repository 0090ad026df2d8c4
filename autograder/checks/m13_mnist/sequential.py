"""Check 2 of lesson 13: layers in a row."""

from autograder.checks.check import check


@check("mnist.sequential", points=2, rtol=1e-5, atol=1e-6)
def sequential(student, rng, tools):
    """Rows of layers, functions and rows; which parameters they have; one that stands in two places."""
    import tinygrad_cl.netcl.autograd as ag
    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.parameter import Parameter
    from tinygrad_cl.netcl.core.tensor import Tensor

    queue = manager.default("auto").queue
    x = rng.normal(size=(3, 5))

    class Scale:
        """A layer with two parameters, x · a + b."""

        def __init__(self):
            self.own = [
                Parameter.from_host(queue, rng.uniform(0.5, 1.5, 5)),
                Parameter.from_host(queue, rng.normal(size=5)),
            ]

        def __call__(self, x):
            return ag.mul(x, self.own[0]) + self.own[1]

        def parameters(self):
            return list(self.own)

    one, two, three, shared = Scale(), Scale(), Scale(), Scale()
    every = one.own + two.own + three.own + shared.own

    def numbers(parameters):
        """Which parameters these are: their numbers among all."""
        return [next((n for n, own in enumerate(every) if own is p), -1) for p in parameters]

    def value(*layers):
        model = student.Sequential(*layers)
        model.parameters()
        model(Tensor.from_host(queue, x))
        return model(Tensor.from_host(queue, x)).to_host()

    def gradient():
        model = student.Sequential(one, ag.relu, two)
        return student.gradients(lambda: model(Tensor.from_host(queue, x)), x * x - 1, one.own[0])[0]

    return {
        "input": "layers with two parameters each, x · a + b; functions ag.relu and ag.tanh",
        "out": lambda: value(one, ag.relu, two),
        "out, another order": lambda: value(two, ag.relu, one, ag.tanh),
        "out, a row in a row": lambda: value(student.Sequential(one, ag.tanh), student.Sequential(two), ag.relu),
        "out, a layer in two places": lambda: value(shared, ag.tanh, shared),
        "a gradient": gradient,
        "out of no layer": lambda: student.Sequential()(ag.tensor(Tensor.from_host(queue, x))).to_host(),
        "parameters, by number": lambda: numbers(student.Sequential(two, ag.relu, one, three).parameters()),
        "parameters of a row in a row": lambda: numbers(
            student.Sequential(three, student.Sequential(ag.relu, student.Sequential(one, two))).parameters()
        ),
        "parameters of a layer in two places": lambda: numbers(
            student.Sequential(shared, one, ag.tanh, student.Sequential(shared)).parameters()
        ),
        "parameters of a layer twice in one row": lambda: numbers(
            student.Sequential(three, shared, ag.tanh, shared).parameters()
        ),
        "asked twice": lambda: numbers(
            (lambda model: [*model.parameters(), *model.parameters()])(student.Sequential(one, two))
        ),
        "parameters of functions alone": lambda: len(student.Sequential(ag.relu, ag.tanh).parameters()),
    }


FOUND = "found += [p for p in layer.parameters() if all(p is not q for q in found)]"
sequential.mistake(
    "each layer gets the first input, not the output of the layer before",
    swap=("x = layer(x)\n        return x", "out = layer(x)\n        return out"),
    hint="x = layer(x): what comes out goes into the next.",
)
sequential.mistake(
    "only the first layer runs: return stands in the loop",
    swap=("x = layer(x)\n        return x", "x = layer(x)\n            return x"),
    hint="How far is the return indented?",
)
sequential.mistake(
    "the layers run from the last to the first",
    swap=("for layer in self.layers:\n            x =", "for layer in self.layers[::-1]:\n            x ="),
    hint="The first layer gets the input.",
)
sequential.mistake(
    "a parameter that is used in two places is in the list twice",
    swap=(" if all(p is not q for q in found)", ""),
    hint="An optimizer would move it twice: take it only if it is not in the list yet.",
)
sequential.mistake(
    "a layer that stands in one row twice counts once, but not one that also stands in an inner row",
    swap=[
        (
            "        found = []\n        for layer in self.layers:",
            "        found, seen = [], []\n        for layer in self.layers:\n"
            "            if layer in seen:\n                continue\n            seen.append(layer)",
        ),
        (" if all(p is not q for q in found)", ""),
    ],
    hint="The same layer may stand in an inner row, too. Compare parameters, not layers.",
)
sequential.mistake(
    "functions are asked for their parameters",
    swap=('            if hasattr(layer, "parameters"):\n                ', "            "),
    hint=["ag.relu is a function. What has it not got?", '`hasattr(layer, "parameters")`.'],
)
sequential.mistake(
    "the list holds lists", swap=(FOUND, "found.append(layer.parameters())"), hint="`+=` or `extend`: one flat list."
)
sequential.mistake(
    "only layers of class Linear are asked: not a row in a row",
    swap=('hasattr(layer, "parameters")', "isinstance(layer, Linear)"),
    hint="A Sequential, and layers that somebody else writes, have parameters, too.",
)
sequential.mistake(
    "rows in rows are left out",
    swap=('hasattr(layer, "parameters")', 'hasattr(layer, "parameters") and not isinstance(layer, Sequential)'),
    hint="A Sequential has a method parameters(), as any layer.",
)
sequential.mistake(
    "only the parameters of the last layer are returned",
    swap=(FOUND, "found = layer.parameters()"),
    hint="Add to the list: `+=`.",
)
sequential.mistake(
    "of each layer only the first parameter is taken",
    swap=("for p in layer.parameters() if", "for p in layer.parameters()[:1] if"),
    hint="A Linear has two.",
)
sequential.mistake(
    "the parameters come from the last layer to the first",
    swap=("for layer in self.layers:\n            if", "for layer in self.layers[::-1]:\n            if"),
    hint="In the order of the layers.",
)
sequential.mistake(
    "the list is sorted by address, not by layer: it is a set",
    swap=("return found", "return sorted(found, key=lambda p: float(p.to_host().sum()))"),
    hint="A set has no order. Keep a list, and look whether the parameter is in it.",
)
sequential.mistake(
    "the layers are used up: an iterator goes through once",
    swap=("self.layers = layers", "self.layers = iter(layers)"),
    hint="Keep the tuple itself, or a list.",
)
sequential.mistake(
    "the list grows with every call",
    swap=[
        ("self.layers = layers", "self.layers, self.found = layers, []"),
        ("        found = []\n", ""),
        (FOUND, "self.found += layer.parameters()"),
        ("return found", "return self.found"),
    ],
    hint="Begin with an empty list in each call.",
)
sequential.variant(
    "ids in a set, and a list beside it",
    source="""
class Sequential:
    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x):
        if not self.layers:
            return x
        first, *rest = self.layers
        return Sequential(*rest)(first(x))

    def parameters(self):
        seen, result = set(), []
        for layer in self.layers:
            for p in getattr(layer, "parameters", list)():
                if id(p) not in seen:
                    seen.add(id(p))
                    result.append(p)
        return result
""",
)
sequential.variant(
    "a dict keeps the order, and each once",
    source="""
from functools import reduce

class Sequential:
    def __init__(self, *layers):
        self.steps = layers

    def __call__(self, x):
        return reduce(lambda value, layer: layer(value), self.steps, x)

    def parameters(self):
        able = [layer for layer in self.steps if callable(getattr(layer, "parameters", None))]
        return list({id(p): p for layer in able for p in layer.parameters()}.values())
""",
)
sequential.variant("`in` compares Parameters by identity", swap=("all(p is not q for q in found)", "p not in found"))
