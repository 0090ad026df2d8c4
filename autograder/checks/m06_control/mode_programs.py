"""Programs for check 3 of lesson 06: decorated functions and generators, which run and call each other in any mode."""

import re

from autograder.checks.programs import pick

MODES = (True, False)
ABOVE = ("@no_grad()", "@enable_grad()")
SHOW = "print(is_grad_enabled())"
OTHER = {"no_grad": "enable_grad", "enable_grad": "no_grad", "True": "False", "False": "True"}


def indented(lines):
    return [f"    {line}" for line in lines]


def block(mode, lines):
    return [f"with GradMode({mode}):", *indented(lines)]


def guarded(lines):
    return ["try:", *indented(lines), "except KeyError:", f"    {SHOW}"]


def small(*programs):
    """Each program, and its mirror image: every mode the other one."""
    for program in programs:
        mirrored = re.sub("no_grad|enable_grad|True|False", lambda word: OTHER[word[0]], program)
        yield program.strip().splitlines()
        yield block(False, mirrored.strip().splitlines())


def calling(rng, errors=False):
    """Functions that call each other and themselves, defined and called in any mode."""
    names, lines = ("f", "g", "h")[: rng.integers(1, 4)], []
    for name in names:
        body = [SHOW, "if n > 0:"]
        for _ in range(rng.integers(1, 3)):
            part = [f"{pick(rng, names)}(n - 1)", SHOW]
            part = block(pick(rng, MODES), part) if rng.random() < 0.5 else part
            body += indented(guarded(part) if errors and rng.random() < 0.5 else part)
        body += ["raise KeyError"] if errors else []
        lines += [*([pick(rng, ABOVE)] if rng.random() < 0.8 else []), f"def {name}(n):", *indented(body)]
    lines = lines if rng.random() < 0.5 else block(pick(rng, MODES), lines)
    for name in names:
        call = [f"{name}({rng.integers(3)})"]
        lines += block(pick(rng, MODES), [*(guarded(call) if errors else call), SHOW])
    return [*lines, SHOW]


def failing(rng):
    """The same functions, each of which ends with an error."""
    return calling(rng, errors=True)


ASK = """
@no_grad()
def ask(n):
    print(is_grad_enabled())
    with GradMode(True):
        if n > 0:
            ask(n - 1)
        print(is_grad_enabled())
    print(is_grad_enabled())
    return n
"""
FIRST = (
    ASK + "print(ask(0))\n" + SHOW,
    ASK + "with GradMode(False):\n    print(ask(0))\n    print(is_grad_enabled())",
    f"with GradMode(False):{ASK.replace(chr(10), chr(10) + '    ')}\n{SHOW}\nprint(ask(0))\n{SHOW}",
    ASK + "print(ask(2))\n" + SHOW,
    """
off = no_grad()
@off
def ask(x):
    print(is_grad_enabled())
    return x
@off
def other(x):
    print(is_grad_enabled())
    return ask(x) + 1
print(other(2))
print(is_grad_enabled())
with off:
    print(ask(3))
print(is_grad_enabled())
""",
    """
class Model:
    @no_grad()
    def ask(self, x):
        print(is_grad_enabled())
        self.asked = x
        return self
model = Model()
print(model.ask(3) is model)
print(model.asked)
print(is_grad_enabled())
""",
)
FAILING = "@no_grad()\ndef ask(n):\n    print(is_grad_enabled())\n    raise KeyError\n"
ERRORS = (
    FAILING + "\n".join([*guarded(["ask(1)"]), SHOW]),
    FAILING + "\n".join([*block(False, guarded(["ask(1)"])), *block(True, guarded(["ask(1)"])), SHOW]),
    FAILING + "ask(1)",
)


def arguments(rng):
    """A function of many kinds of arguments, called in several ways."""
    name, word = pick(rng, ("scaled", "shifted", "mean")), pick(rng, ("A sum.", "Two lines,\n    of text.", ""))
    n = [int(each) for each in rng.integers(2, 9, 5)]
    doc = [f'    """{word}"""'] if word else []
    made = f"f = in_mode({name}, {pick(rng, MODES)})"
    calls = [f"f({n[0]})", f"f({n[0]}, {n[1]})", f"f({n[0]}, {n[1]}, {n[2]}, k={n[3]})", f"f(b={n[1]}, a={n[4]})"]
    calls += [f"f({n[0]}, last={n[1]}, k={n[2]})", f"f(*[{n[3]}, {n[4]}], **{{'k': {n[0]}}})"]
    body = [f"def {name}(a, b=1, *more, k=10, **named):", *doc, "    return (a, b, more, k, named), a * k + b"]
    called = [f"print({calls[i]})" for i in rng.permutation(len(calls))[:3]]
    return ["\n".join(body), made, *called, "print(f.__name__)", "print(f.__doc__)"]


NAMED = (
    '@no_grad()\ndef ask(x):\n    """x, doubled."""\n    return 2 * x\nprint(ask.__name__)\nprint(ask.__doc__)\nprint(ask(3))',
    "@no_grad()\ndef power(x, *, n=2):\n    return x**n\nprint(power(3))\nprint(power(3, n=3))\nprint(power(x=4))",
    "@no_grad()\ndef same(*args, **named):\n    return args, named\nprint(same(1, [2], a=3))\nprint(same())",
    "@no_grad()\ndef nothing():\n    pass\nprint(nothing())\nprint(nothing.__name__)",
)

STEPS = """
@no_grad()
def steps(n):
    print(is_grad_enabled())
    for i in range(n):
        with GradMode(True):
            print(is_grad_enabled())
        yield i
        print(is_grad_enabled())
"""
GENERATORS = (
    STEPS + "for i in steps(2):\n    print(i, is_grad_enabled())\n" + SHOW,
    STEPS + "with GradMode(False):\n    values = steps(2)\nfor i in values:\n    print(i, is_grad_enabled())\n" + SHOW,
    STEPS + "values = steps(2)\nwith GradMode(False):\n    print(next(values), is_grad_enabled())\n"
    "print(is_grad_enabled())\nprint(next(values), is_grad_enabled())",
    """
@no_grad()
def sums(total):
    while total < 10:
        print(is_grad_enabled())
        total += yield total
    return total
values = sums(1)
print(next(values), is_grad_enabled())
print(values.send(4), is_grad_enabled())
try:
    values.send(8)
except StopIteration as end:
    print(end.value)
print(is_grad_enabled())
""",
    """
@no_grad()
def ask(n):
    try:
        yield n
    finally:
        print(is_grad_enabled())
values = ask(3)
print(next(values))
print(is_grad_enabled())
values.close()
print(is_grad_enabled())
""",
    """
@no_grad()
def ask(n):
    try:
        yield n
    except KeyError:
        print(is_grad_enabled())
        yield n + 1
    raise KeyError
values = ask(3)
print(next(values))
print(values.throw(KeyError()), is_grad_enabled())
try:
    next(values)
except KeyError:
    print(is_grad_enabled())
""",
    '@no_grad()\ndef ask(n):\n    """n times."""\n    yield from range(n)\nprint(ask.__name__)\nprint(ask.__doc__)\n'
    "print(list(ask(n=3)))",
)


def stepping(rng):
    """Generators whose steps take turns, in any mode."""
    names, lines = ("f", "g"), []
    for name in names:
        body = [SHOW, "for i in range(n, n + 9):", *indented([f"{SHOW}  # {name}", "yield i"])]
        lines += [pick(rng, ABOVE), f"def {name}(n):", *indented(body)]
    made = [f"values_{name} = {name}({rng.integers(5)})" for name in names]
    lines += made if rng.random() < 0.5 else block(pick(rng, MODES), made)
    for _ in range(rng.integers(3, 6)):
        step = [f"print(next(values_{pick(rng, names)}))", SHOW]
        lines += step if rng.random() < 0.5 else block(pick(rng, MODES), step)
    return lines


OVERLAP = """
import threading
@no_grad()
def ask(entered, leave):
    entered.set()
    leave.wait(1)
def call(mode, entered, leave):
    with GradMode(mode):
        ask(entered, leave)
        return is_grad_enabled()
first, second, third = (threading.Event() for _ in range(3))
with ThreadPoolExecutor(2) as pool:
    one = pool.submit(call, True, first, second)
    first.wait(1)
    two = pool.submit(call, False, second, third)
    print(one.result())
    third.set()
print(two.result())
"""
OVERLAPPING = (
    OVERLAP,
    OVERLAP.replace("call, True", "call, None").replace("call, False", "call, True").replace("None", "False"),
)
