"""Check 1 of lesson 03: the shape that two shapes broadcast to."""

from autograder.checks.cases import Draft, Source, choice, stretched_pair
from autograder.checks.check import exercise

broadcast_shape = exercise("broadcast.shape", "The shape that two shapes broadcast to.")

SHAPES = (
    (),
    (1,),
    (2,),
    (3,),
    (0,),
    (1, 2),
    (2, 1),
    (3, 2),
    (2, 3),
    (1, 3),
    (0, 3),
    (2, 1, 3),
    (3, 1, 1),
    (4, 1, 2, 1),
    (3, 2, 2),
)


def fits(a, b):
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1]))


def drawn(rng):
    return Draft(dict(zip("ab", stretched_pair(rng))))


PAIRS = choice("a", *SHAPES) * choice("b", *SHAPES)


@broadcast_shape.aspect("the shape", 1.5, cases=Source(PAIRS.where(fits).small, drawn), exact="a tuple")
@broadcast_shape.aspect(
    "shapes that do not fit are refused", 0.5, corner=True, cases=PAIRS.where(lambda a, b: not fits(a, b))
)
def shape(student, case):
    return student.broadcast_shape(case.a, case.b)


broadcast_shape.mistake(
    "the shapes are written flush left, so missing sizes are put on the right",
    swap=[
        ("(1,) * (length - len(a)) + a", "a + (1,) * (length - len(a))"),
        ("(1,) * (length - len(b)) + b", "b + (1,) * (length - len(b))"),
    ],
    hint=[
        "A bias (4,) is added to lines (3, 4). Under which size does its 4 stand?",
        "Missing sizes go to the left: `(1,) * missing + shape`.",
    ],
)
broadcast_shape.mistake(
    "`zip` stops with the shorter shape, so the result is too short",
    swap=[("a = (1,) * (length - len(a)) + a", "pass"), ("b = (1,) * (length - len(b)) + b", "pass")],
    hint=["How long is zip((8, 1, 6), (7, 1))?", "Make both equally long first, with ones on the left."],
)
broadcast_shape.mistake(
    "`zip` from the right stops with the shorter shape: its missing sizes are lost",
    source="""
def broadcast_shape(a, b):
    sizes = []
    for m, n in zip(reversed(a), reversed(b)):
        if m != n and 1 not in (m, n):
            raise ValueError("they do not fit")
        sizes.append(n if m == 1 else m)
    return tuple(reversed(sizes))
""",
    hint=[
        "What is left over of the longer shape when zip ends?",
        "Pad the shorter one with ones, or use itertools.zip_longest with fillvalue=1.",
    ],
)
broadcast_shape.mistake(
    "only the second shape is padded: a shorter first one is not handled",
    swap=("a = (1,) * (length - len(a)) + a", "pass"),
    hint=["(6,) plus (8, 7, 6)?", "Either may be the shorter one."],
)
broadcast_shape.mistake(
    "the larger size wins, so 0 loses against 1",
    swap=("n if m == 1 else m for", "max(m, n) for"),
    hint=[
        "An empty batch plus a row of biases: how many lines has the result?",
        "A 1 gives way, to a 0 as well: `n if m == 1 else m`.",
    ],
)
broadcast_shape.mistake(
    "the larger size wins, and nothing is refused",
    source="""
def broadcast_shape(a, b):
    length = max(len(a), len(b))
    a = (1,) * (length - len(a)) + tuple(a)
    b = (1,) * (length - len(b)) + tuple(b)
    return tuple(max(m, n) for m, n in zip(a, b))
""",
    hint=[
        "What does NumPy say to sizes 3 and 4 in one column?",
        "If the sizes differ and neither is 1: raise ValueError.",
    ],
)
broadcast_shape.mistake(
    "sizes that do not fit are not refused",
    swap=("if m != n and 1 not in (m, n):", "if False:"),
    hint=[
        "What does NumPy say to sizes 3 and 4 in one column?",
        "If the sizes differ and neither is 1: raise ValueError.",
    ],
)
broadcast_shape.mistake(
    "a size that divides the other is taken to fit",
    swap=("1 not in (m, n)", "(min(m, n) == 0 or max(m, n) % min(m, n))"),
    hint=["Does NumPy repeat two numbers to make them four?", "Only a 1 is repeated."],
)
broadcast_shape.mistake(
    "the 1 wins over the size",
    swap=("n if m == 1 else m for", "m if m == 1 else n for"),
    hint=["A column plus a row: is the result 1 wide?", "The other way round: where m is 1, n is the result."],
)
broadcast_shape.mistake(
    "built from the right and never reversed",
    source="""
from itertools import zip_longest

def broadcast_shape(a, b):
    sizes = []
    for m, n in zip_longest(a[::-1], b[::-1], fillvalue=1):
        if m != n and 1 not in (m, n):
            raise ValueError("they do not fit")
        sizes.append(n if m == 1 else m)
    return tuple(sizes)
""",
    hint=["Your first size belongs to which axis?", "`return tuple(reversed(sizes))`."],
)
broadcast_shape.variant(
    "NumPy knows it",
    source="""
def broadcast_shape(a, b):
    return np.broadcast_shapes(a, b)
""",
)
broadcast_shape.variant(
    "tried out on arrays",
    source="""
def broadcast_shape(a, b):
    return (np.zeros(a) + np.zeros(b)).shape
""",
)
broadcast_shape.variant(
    "from the right",
    source="""
from itertools import zip_longest

def broadcast_shape(a, b):
    sizes = []
    for m, n in zip_longest(a[::-1], b[::-1], fillvalue=1):
        if m == 1:
            sizes.insert(0, n)
        elif n == 1 or m == n:
            sizes.insert(0, m)
        else:
            raise ValueError(f"{a} and {b}")
    return tuple(sizes)
""",
)
broadcast_shape.variant("1 among two sizes, in either order", swap=("(m, n):", "(n, m):"))
broadcast_shape.mistake(
    "a list comes back, not a tuple",
    swap=(
        "return tuple(n if m == 1 else m for m, n in zip(a, b))",
        "return [n if m == 1 else m for m, n in zip(a, b)]",
    ),
    hint="The docstring promises a tuple; an array's shape is one, and a list is never equal to it.",
)
