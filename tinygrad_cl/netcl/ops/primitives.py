"""The table of elementwise operations: one record for each, read by kernels, autograd, the JIT and
the tests.

A record gives C expressions, in which these words stand for the type that a kernel computes in:

    T   the number type, float or double
    V   T, or a vector of it: write a constant as (V)(2), a choice as (x > 0 ? x : (V)(0))
"""

from collections.abc import Callable
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

PRIMITIVES = {}


@dataclass(frozen=True, eq=False)
class Formula:
    """What one kernel computes: C expressions of v0, v1, …, one for each output. Compared by
    identity.

    name    the kernel's
    arity   how many inputs there are
    """

    name: str
    expressions: tuple
    arity: int


@dataclass(frozen=True, eq=False)
class Primitive:
    """One elementwise operation.

    forward(args, attrs)                     the C expression of the result
    backward(args, grad_var, attrs, out_var) a C expression for each input's gradient; None where
    there is none
    reference(*arrays, **attrs)              the same with NumPy, for the tests
    formula, domain                          for readers; (low, high), where it is defined
    attrs                                    constants and their defaults
    inputs                                   what its inputs are called
    aliases, layers                          other names of its function in `nn.functional`; names of its
                                             layer in `nn`, the first is the class
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

    def constants(self, attrs):
        """The constants in use: the defaults, and `attrs` over them. TypeError for an unknown
        one.
        """
        unknown = set(attrs) - set(self.attrs)
        if unknown:
            raise TypeError(f"{self.name} takes no {', '.join(sorted(unknown))}")
        return self.attrs | attrs

    def forward_formula(self, attrs=None):
        """The Formula of the result, the same object for the same constants."""
        key = tuple(attrs.items()) if attrs else ()
        formula = self.formulas.get(key)
        if formula is None:
            expression = self.forward(self._inputs(), self.constants(attrs or {}))
            formula = self.formulas[key] = Formula(self.name, (expression,), self.arity)
        return formula

    def gradients(self, attrs=None):
        """A C expression for each input's gradient, or None: of v0, …, then `g`, the upstream one,
        and `out`.
        """
        if self.backward is None:
            return [None] * self.arity
        return list(self.backward(self._inputs(), "g", self.constants(attrs or {}), "out"))

    def _inputs(self):
        return [f"v{number}" for number in range(self.arity)]


def register_primitive(
    name,
    forward,
    backward=None,
    arity=1,
    fusible=True,
    *,
    reference=None,
    formula="",
    domain=(float("-inf"), float("inf")),
    attrs=None,
    inputs=("x", "y", "z"),
    aliases=(),
    layers=(),
):
    """Put one elementwise operation into the table and return its record; a name that is taken is
    replaced.

    forward(args, attrs) -> str, backward(args, grad_var, attrs, out_var) -> list of str. Both are
    tried here:
    TypeError or ValueError if they do not return that.

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


def get_primitive(name):
    """The record of this name; KeyError with a word about what to do."""
    try:
        return PRIMITIVES[name]
    except KeyError:
        raise KeyError(f"there is no primitive {name}: register_primitive makes one") from None


def c_number(value):
    """A constant as C text of type V, whatever it is: inf and nan, too.

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
