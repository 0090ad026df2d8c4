"""A class's copy gives no solution: none of a later lesson, and of its own only what docs/instructors.md lists."""

import re

import pytest
from given_away import SHARE, WEIGHT, bodies, bodies_in, body_of, share, solutions, weight

from autograder import paths
from autograder.bundle.contents import contents
from autograder.lesson.text import read_lesson

MODULES = paths.module_names()
DOCS = paths.ROOT / "docs" / "instructors.md"
ROW = re.compile(r"^\| `(\w+\.\w+)` \| ([\d, ]+) \| `([\w./]+)` \|", re.MULTILINE)


@pytest.fixture(scope="module")
def wanted():
    """{module: [(exercise, what a student writes there), …]}."""
    return {module: list(solutions(read_lesson(module))) for module in MODULES}


def held(module, files, wanted):
    """{(exercise, module, file)}: solutions of this module and of later ones that a file of its copy holds.

    What a student has written before, word for word, is no news: lesson 10 sorts a graph as lesson 01 does.
    """
    place = MODULES.index(module)
    written = {body for earlier in MODULES[:place] for _, body in wanted[earlier]}
    asked = [each for later in MODULES[place:] for each in wanted[later]]
    return {
        (exercise, module, path)
        for path, data in files.items()
        if path.endswith((".py", ".ipynb", ".checks.json"))
        for body in bodies_in(path, data.decode())
        if body not in written
        for exercise, solution in asked
        if share(solution, body) >= SHARE
    }


def test_copies_hold_those_solutions_that_are_listed_and_no_others(wanted):
    """Every copy with every solution of its module and of all later ones."""
    found = {each for module in MODULES for each in held(module, contents([module]), wanted)}
    listed = {
        (exercise, next(module for module in MODULES if module.startswith(f"{number}_")), path)
        for exercise, numbers, path in ROW.findall(DOCS.read_text(encoding="utf-8"))
        for number in numbers.split(", ")
    }
    assert found == listed


# -- the measure, measured --------------------------------------------------------------------------------------------


def test_the_package_itself_holds_what_is_pulled_from_it(wanted):
    """Every pulled exercise of some weight is found in the file that it is pulled from."""
    for module in MODULES:
        for cell in read_lesson(module).cells:
            asked = [body for name, body in wanted[module] if name == cell.name and cell.pulled]
            files = {symbol.split(":")[0].replace(".", "/") + ".py" for symbol in cell.pulled}
            there = [body for file in files for body in bodies((paths.ROOT / file).read_text(encoding="utf-8"))]
            for solution in asked:
                assert max(share(solution, body) for body in there) >= 0.9, cell.name


def test_most_exercises_have_enough_weight_to_be_looked_for(wanted):
    names = {name for module in MODULES for name, _ in wanted[module]}
    light = {name for module in MODULES for name in read_lesson(module).exercises} - names
    assert len(light) < 0.15 * len(names), light


SOLUTION = body_of("""
total = 0.0
for x, y in zip(predictions, targets):
    total += (x - y) ** 2 / len(targets)
return math.sqrt(total)
""")
AS_IT_IS = '''
class Loss:
    def forward(self, predictions: list, targets: list) -> float:
        """Of two lists."""
        total: float = 0.0  # a number
        for x, y in zip(predictions, targets):
            total += (x - y) ** 2 / len(targets)
        return math.sqrt(total)
'''


@pytest.mark.parametrize(
    "text",
    [
        AS_IT_IS,
        AS_IT_IS.replace("total", "s")
        .replace("targets", "wanted")
        .replace("(x - y)", "(a - b)")
        .replace("x, y", "a, b"),
        AS_IT_IS.replace(
            "        for x", "        print(total)\n        if not targets:\n            return 0.0\n        for x"
        ),
        AS_IT_IS.replace("math.sqrt(total)", "total"),
        AS_IT_IS.replace("class Loss", "def outer():\n  class Loss"),
    ],
    ids=["as it is", "other names", "more lines", "one line differs", "inside another"],
)
def test_a_solution_is_found(text):
    assert weight(SOLUTION) >= WEIGHT
    text = text if "outer" not in text else "def outer():\n" + AS_IT_IS.replace("\n", "\n    ")
    assert max(share(SOLUTION, body) for body in bodies(text)) >= SHARE


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, b):\n    total = 0.0\n    for x, y in zip(a, b):\n        total += x * y\n    return total\n",
        "def f(a):\n    return math.sqrt(a)\n",
        "def f(self):\n    for x in self.parts:\n        x.step()\n    return self\n",
    ],
    ids=["the same frame", "one line", "lines that all have"],
)
def test_lines_that_anybody_writes_are_no_solution(text):
    assert max(share(SOLUTION, body) for body in bodies(text)) < SHARE


def test_a_kernel_is_read_line_by_line():
    kernel = body_of(
        "    int i = get_global_id(0);  // mine\n    if (i < n)\n        y[i] = fmax(x[i] + b[i % k], 0.0f);\n"
    )
    source = 'SOURCE = """\n__kernel void f() {\n  int i=get_global_id(0);\n  if (i < n)\n    y[i] = fmax(x[i]+b[i%k], 0.0f);\n}\n"""\n'
    assert max(share(kernel, body) for body in bodies(source)) == 1.0
    assert (
        max(share(kernel, body) for body in bodies(source.replace("fmax", "fmin").replace("if (i", "while (i"))) < SHARE
    )
