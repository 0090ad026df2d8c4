"""The table of elementwise operations: one record for each, for kernels, autograd, the JIT and the tests.

A record gives C expressions, in which these words stand for the type that a kernel computes in:

    T   the number type, float or double
    V   T, or a vector of it: write a constant as (V)(2), a choice as (x > 0 ? x : (V)(0))
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real

PRELUDE = """
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define NEG(a) (-(a))
#define EXP(a) exp(a)
#define LOG(a) log(a)
#define SQRT(a) sqrt(a)
#define POW(a, b) pow(a, b)
#define MAX(a, b) ((((a) >= (b)) | ((a) != (a))) ? (a) : (b))
#define MIN(a, b) ((((a) <= (b)) | ((a) != (a))) ? (a) : (b))
"""  # MAX and MIN give NaN where one of the two is NaN, as NumPy's do; TANH is in c_source

PRIMITIVES: dict[str, "Primitive"] = {}


@dataclass(frozen=True, eq=False)
class Formula:
    """What one kernel computes: C expressions of v0, v1, …, one for each output. Compared by identity.

    name    name of the kernel
    arity   number of inputs
    """

    name: str
    expressions: tuple
    arity: int


@dataclass(frozen=True, eq=False)
class Primitive:
    """One elementwise operation.

    forward    forward(args, attrs): the C expression of the result
    backward   backward(args, grad_var, attrs, out_var): for each input the C expression of its
               gradient, or None if it has none
    arity      number of inputs
    fusible    whether jit_compile may fuse it
    reference  reference(*arrays, **attrs): the same with NumPy, for the tests
    formula    for readers
    domain     (low, high), where it is defined
    attrs      its constants and their defaults
    inputs     the names of its inputs
    aliases    further names of its function in `nn.functional`
    layers     the names of its layer in `nn`; the first one is the class
    """

    name: str
    forward: Callable
    backward: Callable | None
    arity: int
    fusible: bool
    reference: Callable | None
    formula: str
    domain: tuple
    attrs: dict
    inputs: tuple
    aliases: tuple = ()
    layers: tuple = ()
    formulas: dict = field(default_factory=dict, repr=False)

    def constants(self, attrs: Mapping[str, float]) -> dict[str, float]:
        """The constants of a call: `attrs`, and defaults for the others. TypeError for an unknown one."""
        unknown = set(attrs) - set(self.attrs)
        if unknown:
            raise TypeError(f"{self.name} takes no {', '.join(sorted(unknown))}")
        return {**self.attrs, **attrs}

    def forward_formula(self, attrs: Mapping[str, float] | None = None) -> Formula:
        """The Formula of the result, the same object for the same constants."""
        key = tuple(attrs.items()) if attrs else ()
        formula = self.formulas.get(key)
        if formula is None:
            expression = self.forward(self._inputs(), self.constants(attrs or {}))
            formula = self.formulas[key] = Formula(self.name, (expression,), self.arity)
        return formula

    def gradients(self, attrs: Mapping[str, float] | None = None) -> list[str | None]:
        """For each input the C expression of its gradient, or None; with the inputs v0, v1, …, the upstream
        gradient `g` and the result `out`.
        """
        if self.backward is None:
            return [None] * self.arity
        return list(self.backward(self._inputs(), "g", self.constants(attrs or {}), "out"))

    def _inputs(self):
        return [f"v{number}" for number in range(self.arity)]


def register_primitive(
    name: str,
    forward: Callable[[list[str], dict[str, float]], str],
    backward: Callable[[list[str], str, dict[str, float], str], Sequence[str | None]] | None = None,
    arity: int = 1,
    fusible: bool = True,
    *,
    reference: Callable | None = None,
    formula: str = "",
    domain: tuple[float, float] = (float("-inf"), float("inf")),
    attrs: Mapping[str, float] | None = None,
    inputs: tuple[str, ...] = ("x", "y", "z"),
    aliases: tuple[str, ...] = (),
    layers: tuple[str, ...] = (),
) -> Primitive:
    """Add one elementwise operation to the table and return its record, a Primitive; its fields are the
    parameters here. An operation of the same name is replaced.

    forward(args, attrs) returns a str, backward(args, grad_var, attrs, out_var) a list of str or None.
    Both are called once to check that: TypeError or ValueError if they return anything else.

    >>> cube = register_primitive("cube_example", lambda a, attrs: f"({a[0]} * {a[0]} * {a[0]})",
    ...                           lambda a, g, attrs, out: [f"({g} * 3 * {a[0]} * {a[0]})"])
    >>> cube.forward_formula().expressions, cube.gradients()
    (('(v0 * v0 * v0)',), ['(g * 3 * v0 * v0)'])
    >>> del PRIMITIVES["cube_example"]
    """
    if not name.isidentifier():
        raise ValueError(f"{name!r} cannot name a kernel: letters, digits and _ only")
    constants = dict(attrs or {})
    primitive = Primitive(
        name, forward, backward, arity, fusible, reference, formula, domain, constants, inputs[:arity], aliases, layers
    )
    expression, gradients = primitive.forward_formula().expressions[0], primitive.gradients()
    if not isinstance(expression, str):
        raise TypeError(f"forward of {name} returns a C expression, a str, not {expression!r}")
    if len(gradients) != arity:
        raise ValueError(f"backward of {name} returns {len(gradients)} expressions for {arity} inputs")
    if not all(gradient is None or isinstance(gradient, str) for gradient in gradients):
        raise TypeError(f"backward of {name} returns C expressions, each a str, not {gradients!r}")
    PRIMITIVES[name] = primitive
    return primitive


def get_primitive(name: str) -> Primitive:
    """The record of this name. KeyError if there is none."""
    try:
        return PRIMITIVES[name]
    except KeyError:
        raise KeyError(f"there is no primitive {name}: register_primitive makes one") from None


def c_number(value: float) -> str:
    """A constant as C text of type V, also inf and nan.

    >>> c_number(0.1), c_number(float("-inf"))
    ('((V)(0.1))', '((V)(-INFINITY))')
    """
    if not isinstance(value, Real):
        raise TypeError(f"a constant is a number, not {value!r}")
    value = float(value)
    if value != value:
        return "((V)(NAN))"
    if value in (float("inf"), float("-inf")):
        return f"((V)({'-' if value < 0 else ''}INFINITY))"
    return f"((V)({value!r}))"
