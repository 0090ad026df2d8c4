"""Check 2 of lesson 13: layers in a row."""

import numpy as np

from autograder.checks.cases import Draft, Source, Text, filled
from autograder.checks.check import exercise
from autograder.checks.m13_mnist.places import drawn, parameter

sequential = exercise(
    "mnist.sequential", "Rows of layers, functions and rows: what comes out, and which parameters they have."
)
STEPS = "ag.tanh", "scale", "lambda x: x + w", "ag.relu", "lambda x: x - 1.0"
ROWS = "", "{1}", "{0}, {1}", "{1}, {2}", "{2}, {0}, {1}", "{1}, Sequential({0}, {2})", "{1}, {0}, {1}"
ROWS += "Sequential({1}), {3}, Sequential()", "Sequential(Sequential({2}, {0})), {1}, {4}"
LAYERS = (
    "a",
    "b",
    "a, ag.relu, b",
    "b, a",
    "a, b, a",
    "ag.tanh, ag.relu",
    "",
    "a, Sequential(b, ag.relu)",
    "a, a",
    "tied, a",
    "a, tied",
)
LAYERS += (
    "Sequential(a), b, Sequential(a)",
    "Sequential(b, Sequential(ag.tanh, c)), a",
    "b, Sequential(a, b), c",
    "a, c, b",
    "Sequential(tied), b, a",
)


def row(text, rng):
    x, w = (parameter(filled((2,), "decimals", rng)) for _ in "xw")
    return Draft(
        {
            "x": x,
            "w": w,
            "scale": Text("lambda x: ag.mul(x, w)"),
            "model": Text(f"Sequential({text.format(*(f'({step})' for step in STEPS))})"),
        }
    )


def drawn_row(rng):
    return row(", ".join(drawn(rng, *ROWS[1:]) for _ in range(rng.integers(1, 3))), rng)


def layers(text):
    return Draft({"model": Text(f"lambda a, b, c, tied: Sequential({text})")})


def drawn_layers(rng):
    parts = [drawn(rng, *LAYERS[:4], "c", "tied", "ag.relu") for _ in range(rng.integers(1, 5))]
    return layers(", ".join(drawn(rng, part, f"Sequential({part})") for part in parts))


@sequential.aspect(
    "what comes out, and its gradients",
    1,
    cases=Source(lambda rng: (row(text, rng) for text in ROWS), drawn_row),
    few=12,
    many=36,
    rtol=1e-4,
    atol=1e-5,
)
def output(student, case):
    out = case.model(student.ag.tensor(case.x))
    yield
    gradients = student.gradients(lambda: case.model(student.ag.tensor(case.x)), np.array([1.0, 10.0]), case.x)
    return {"out": out.to_host(), "gradient of x": gradients}


@sequential.aspect(
    "parameters(): in order, each once",
    1,
    corner=True,
    cases=Source(lambda rng: map(layers, LAYERS), drawn_layers),
    few=24,
)
def parameters(student, case):
    class Layer:
        def __init__(self, *own):
            self.own = own

        def __call__(self, x):
            return x * self.own[0] + self.own[1]

        def parameters(self):
            return list(self.own)

    p = [student.Parameter.from_host(student.queue, np.full(2, n)) for n in (2.0, 1.0, 2.0, 0.0, 1.0, 0.0)]
    model = case.model(
        Layer(*p[:2]), Layer(*p[2:4]), Layer(*p[4:]), Layer(p[1], p[4])
    )  # a, b, c, and tied with a and c
    first, second = model.parameters(), model.parameters()
    return {
        "which": [[q is x for q in p].index(True) for x in first],
        "asked again": len(second),
        "kind": type(first).__name__,
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
    "layers are asked by their class, and not by whether they have `parameters()`: some are left out",
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
