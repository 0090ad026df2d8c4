"""For authors of checks: judge every mistake and every variant of a check."""

import ast
import contextlib
import io
from dataclasses import dataclass

from autograder.checks.check import Check, Mistake, Variant
from autograder.judge.accesses import add_accesses, is_looked_at, look
from autograder.judge.expected import edited_sources, fresh, varied
from autograder.judge.integrity import measured_gradient
from autograder.judge.reference import module_of, reference_namespace
from autograder.judge.verdict import Verdict, judge


@dataclass(frozen=True)
class Tried:
    """A mistake or a variant of a check, and the verdict on it."""

    kind: str  # mistake or variant
    name: str
    verdict: Verdict
    flag: str = ""  # where it looks as if its gradients were measured

    @property
    def as_it_must_be(self) -> bool:
        """A mistake loses points, and it alone is named; a variant earns all points, and nobody is accused of anything."""
        if self.kind == "variant":
            return self.verdict.status == "ok" and not self.flag
        return self.verdict.points < self.verdict.check.points and [found.name for found in self.verdict.mistakes] == [
            self.name
        ]


def try_all(check: Check, seed: str) -> list[Tried]:
    """The verdicts on all mistakes and variants of a check, for a seed."""
    found = []
    for mistake in check.mistakes:
        namespace_of(
            check, mistake
        )  # raises if its cell does not run: else all that it shows is "every name is missing"
        trials = fresh(check.name, seed, mistake.name)
        found.append(Tried("mistake", mistake.name, judge(check, trials, seed)))
    for variant in check.variants:
        trials = varied(check.name, seed, variant.name)
        verdict = judge(check, trials, seed)
        if is_looked_at(verdict):
            add_accesses(verdict, look(check, namespace_of(check, variant), seed))
        found.append(Tried("variant", variant.name, verdict, measured_gradient(check, trials, seed)))
    return found


def print_tried(checks: list[Check]) -> tuple[int, int]:
    """Print a table for each check: what each mistake and variant earns. Returns (how many, how many not as they must be)."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    wrong, count = 0, 0
    for check in checks:
        table = Table(
            "", "points", "kind", "what it does", title=f"{check.name}: {check.points:g} points", title_justify="left"
        )
        for tried in try_all(check, "checks"):
            count, wrong = count + 1, wrong + (not tried.as_it_must_be)
            table.add_row(
                "✓" if tried.as_it_must_be else "✗", f"{tried.verdict.points:g}", tried.kind, escape(tried.name)
            )
        Console().print(table)
    return count, wrong


def namespace_of(check: Check, tried: Mistake | Variant) -> dict:
    with contextlib.redirect_stdout(io.StringIO()):  # some print
        return reference_namespace(module_of(check.name), edited_sources(check, tried.edit))


NOTHING = ("None", "0.0", "first argument")  # what a function returns that does nothing


def does_nothing(source: str, nothing: str) -> str:
    """A cell whose functions return that and do nothing else; "" where it defines no function."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        names = [argument.arg for argument in function.args.args if argument.arg not in ("self", "cls", "ctx")]
        value = nothing if nothing != "first argument" else names[0] if names else "None"
        function.body = [ast.Return(ast.parse(value, mode="eval").body)]
    return ast.unparse(ast.fix_missing_locations(tree)) if functions else ""
