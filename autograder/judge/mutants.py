"""For authors of checks: the small changes of a reference solution that its check does not notice.

A mutant is the solution with one edit: another operator, number, name or comparison, a part left out. Only what a student
writes is edited, never a signature or a docstring; in a kernel, which is a text within Python, the tokens of its lines are.
The words of an error are not graded, so `raise` and `except` stay as they are.

A mutant that earns all points is either a gap in the check or as right as the reference. Then it is declared as a variant
of the check, with the reason as its name, and is not listed again.
"""

import ast
import contextlib
import io
import re
import warnings
from dataclasses import dataclass, replace
from multiprocessing import TimeoutError, get_context

from autograder.checks import find
from autograder.checks.aspect import NOTEBOOK_SEED
from autograder.checks.check import Check
from autograder.judge.expected import cases_of, edited_sources
from autograder.judge.plan import run
from autograder.judge.reference import module_of, reference_namespace
from autograder.lesson.symbols import BEGIN, END
from autograder.lesson.text import Cell, read_lesson

SECONDS = 2.0  # a mutant may loop for ever; no reference takes a tenth of this
PATIENCE = 5.0  # the same for a kernel, which the driver may have to compile

OTHER_OPERATORS = {
    ast.Add: [ast.Sub, ast.Mult],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Add, ast.Div],
    ast.Div: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.MatMult: [ast.Mult],
    ast.FloorDiv: [ast.Div],
    ast.Mod: [ast.FloorDiv],
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
ONE_SIDED = (ast.Sub, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv, ast.Mod)  # where the order of the operands matters
BINDS_LOOSELY = (
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.BoolOp,
    ast.IfExp,
    ast.Lambda,
)  # parentheses around it, to be safe

OPERAND = (
    r"[\w.]+(?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\])*"  # a name or number, with what it is called with or indexed by
)
TEXT_EDITS = [
    (re.compile(pattern), replacements)
    for pattern, replacements in [
        (r" \+ ", [" - "]),
        (r" - ", [" + "]),
        (r" \* ", [" + ", " / "]),
        (r" / ", [" * "]),
        (r" % ", [" / "]),
        (r" < ", [" <= ", " > "]),
        (r" <= ", [" < ", " > "]),
        (r" > ", [" >= ", " < "]),
        (r" >= ", [" > ", " < "]),
        (r" == ", [" != "]),
        (r" && ", [" || "]),
        (r" \|\| ", [" && "]),
        (r" = ", [" += "]),
        (r" \+= ", [" = ", " -= "]),
        (rf" [-+*/] {OPERAND}", [""]),
        (rf"{OPERAND} [-+*/] ", [""]),
        (r"\bsin\b", ["cos"]),
        (r"\bcos\b", ["sin"]),
        (r"\bexp\b", ["log"]),
        (r"\blog\b", ["exp"]),
        (r"\bget_global_id\b", ["get_local_id", "get_group_id"]),
        (r"\bget_local_id\b", ["get_global_id"]),
        (r"\bget_group_id\b", ["get_global_id"]),
        (r"\bget_global_size\b", ["get_local_size"]),
        (r"(?<![\w.])\d+(?:\.\d+)?f?\b", ["0", r"(\g<0> + 1)"]),
        (r"\[([^\]]+)\]", ["[0]", r"[\1 + 1]"]),
        (r"\bfloat (?=\w+ =)", ["int "]),
        (r"\bif \((?:[^()]|\([^()]*\))*\)", [""]),
        (r"(?<=\s)(?:\w+ )?\w\S* [-+*/]?= .*;|\breturn\b.*;|\bbarrier\(.*;", [";"]),
    ]
]
INDEXED = re.compile(r"\b\w+(?=\[)")


@dataclass(frozen=True)
class Mutant:
    """A solution with one edit, in which the numbered line of the cell changed."""

    line: int
    before: str
    after: str
    source: str


def survivors(check: Check, mutants: list[Mutant]) -> list[Mutant]:
    """The mutants that earn all points, but for those that are declared as variants of the check."""
    declared = {
        normal(source)
        for variant in check.variants
        for name, source in edited_sources(check, variant.edit).items()
        if name == check.name
    }
    unknown = [mutant for mutant in mutants if normal(mutant.source) not in declared]
    sources = [mutant.source for mutant in unknown]
    if is_text(cell_of(check)) or "cl." in cell_of(check).solved:
        earned = earned_apart(check, sources)
    else:
        earned = [earns_all_points(check, source) for source in sources]
    return [mutant for mutant, all_points in zip(unknown, earned) if all_points]


def earns_all_points(check: Check, source: str) -> bool:
    """Whether the check, as a student sees it, takes that source of the exercise for right."""
    quick = replace(check, seconds=min(check.seconds, SECONDS))
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            namespace = reference_namespace(module_of(check.name), {check.name: source})
        except Exception:  # the cell itself does not run
            return False
        got = run(quick, namespace, NOTEBOOK_SEED)
    return not cases_of(check.name, NOTEBOOK_SEED).failed(got)


def earned_apart(check: Check, sources: list[str]) -> list[bool]:
    """`earns_all_points` in a process of its own: a kernel that never ends, or crashes, takes its process with it."""
    earned, pool = [], None
    try:
        for source in sources:
            if pool is None:
                pool = get_context("spawn").Pool(1)
                pool.apply(earns_all_points_by_name, (check.name, cell_of(check).solved))  # only imports take long
            try:
                all_points = pool.apply_async(earns_all_points_by_name, (check.name, source)).get(PATIENCE)
            except TimeoutError:
                all_points = None
            earned.append(bool(all_points))
            if all_points is None:
                pool.terminate()
                pool = None
    finally:
        if pool is not None:
            pool.terminate()
    return earned


def earns_all_points_by_name(name: str, source: str) -> bool | None:
    """A check does not travel between processes; its name does. None where the process is lost to an endless kernel."""
    from tinygrad_cl.opencl.kernels import is_busy

    earned = earns_all_points(find(name), source)
    return None if is_busy() else earned


def mutants_of(check: Check) -> list[Mutant]:
    """Every mutant of the check's reference solution, each once, in the order of the lines."""
    return mutants_of_cell(cell_of(check))


def mutants_of_cell(cell: Cell) -> list[Mutant]:
    source, lines = cell.solved, solution_lines(cell.source)
    found = {normal(source): None}
    for start, end, new in text_edits(source, lines) if is_text(cell) else python_edits(source, lines):
        mutated = source[:start] + new + source[end:]
        line = source.count("\n", 0, start)
        before, after = (text.splitlines()[line].strip() for text in (source, mutated))
        found.setdefault(normal(mutated), Mutant(line + 1, before, after, mutated))
    return sorted((mutant for mutant in found.values() if mutant), key=lambda mutant: mutant.line)


def cell_of(check: Check) -> Cell:
    return read_lesson(module_of(check.name)).exercise(check.name)


def is_text(cell: Cell) -> bool:
    """Whether the solution stands within a text, as a kernel does."""
    first = min(solution_lines(cell.source))
    return any(
        isinstance(node, ast.Constant) and node.lineno < first <= node.end_lineno
        for node in ast.walk(ast.parse(cell.solved))
    )


def normal(source: str) -> str:
    """The source without what makes no difference: spaces, comments, parentheses."""
    return ast.unparse(ast.parse(source))


def solution_lines(marked: str) -> set[int]:
    """Which lines of the solved cell, counted from 1, stand between the marks of a solution."""
    lines, number, inside = set(), 0, False
    for line in marked.splitlines():
        if line.strip() in (BEGIN, END):
            inside = line.strip() == BEGIN
        else:
            number += 1
            if inside:
                lines.add(number)
    return lines


def place(source: str, line: int, column: int = 0) -> int:
    """The index in the source of what ast calls line (from 1) and column (in bytes)."""
    lines = source.splitlines(keepends=True)
    return len("".join(lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())


# -- edits of Python: (start, end, what stands there instead) -----------------------------------------------------------


def python_edits(source: str, lines: set[int]):
    tree = ast.parse(source)
    names = local_names(tree)
    for node in nodes_to_edit(tree):
        if getattr(node, "lineno", None) in lines:
            tests = [(node.test, new) for new in ("True", "False")] if isinstance(node, (ast.If, ast.IfExp)) else []
            for old, new in [(node, new) for new in replacements(node, names)] + tests:
                yield place(source, old.lineno, old.col_offset), place(source, old.end_lineno, old.end_col_offset), new


def nodes_to_edit(node: ast.AST):
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.Raise, ast.ExceptHandler, ast.JoinedStr)):
            yield child
            yield from nodes_to_edit(child)


def local_names(tree: ast.Module) -> list[str]:
    """The arguments of functions, and the names that get a value."""
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return sorted(
        arguments
        | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    )


def replacements(node: ast.AST, names: list[str]):
    """What one could have written in place of a node: texts."""

    def text(new):
        return f"({ast.unparse(new)})" if isinstance(new, BINDS_LOOSELY) else ast.unparse(new)

    match node:
        case ast.BinOp(left, operator, right):
            yield from (text(ast.BinOp(left, other(), right)) for other in OTHER_OPERATORS.get(type(operator), ()))
            yield from (text(left), text(right))
            if isinstance(operator, ONE_SIDED):
                yield text(ast.BinOp(right, operator, left))
        case ast.UnaryOp(operand=operand):
            yield text(operand)
        case ast.Compare(left, [operator], [right]):
            yield from (
                text(ast.Compare(left, [other()], [right])) for other in OTHER_OPERATORS.get(type(operator), ())
            )
        case ast.BoolOp(values=values):
            yield from map(text, values)
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield from (f"{value + 1}", f"{2 * value}", f"({-value})") if value else ("1", "(-1)", "0.5")
        case ast.Name(id=name, ctx=ast.Load()) if name in names:
            yield from (other for other in names if other != name)
        case ast.Tuple(elts=[_, _, *_] as parts, ctx=ast.Load()) | ast.List(elts=[_, _, *_] as parts, ctx=ast.Load()):
            turned = text(type(node)(parts[::-1], ast.Load()))
            yield (
                turned[1:-1] if any(isinstance(part, ast.Slice) for part in parts) else turned
            )  # x[(0, :)] is no Python
        case ast.Call(args=[argument], keywords=[]) if not isinstance(argument, ast.GeneratorExp | ast.Starred):
            yield text(argument)
        case ast.Attribute(value=value, ctx=ast.Load()) | ast.Subscript(value=value, ctx=ast.Load()):
            yield text(value)
        case ast.AugAssign(target, operator, value):
            yield from (f"{text(target)} = {text(value)}", "pass")
        case ast.Expr() | ast.Assign() | ast.For() | ast.While() | ast.Return() | ast.Continue() | ast.Break():
            yield "pass"


# -- edits of a kernel's lines ------------------------------------------------------------------------------------------


def text_edits(source: str, lines: set[int]):
    spans = [
        (place(source, number), line.split("//")[0])
        for number, line in enumerate(source.splitlines(), 1)
        if number in lines
    ]
    arrays = sorted({name for _, line in spans for name in INDEXED.findall(line)})
    for start, line in spans:
        for pattern, new in TEXT_EDITS:
            for found in pattern.finditer(line):
                yield from ((start + found.start(), start + found.end(), found.expand(template)) for template in new)
        for found in INDEXED.finditer(line):
            yield from ((start + found.start(), start + found.end(), other) for other in arrays if other != found[0])
