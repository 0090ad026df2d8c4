"""A case as the student would write it: the observation's text with the inputs in place."""

import ast

from autograder.checks.aspect import Aspect
from autograder.checks.cases import Case

LONGEST, WIDEST = 6, 300  # lines of a program that is shown; a longer one is replayed by `case("name", number)`


def shown(aspect: Aspect, case: Case, check: str, number: int, in_notebook: bool) -> str:
    """What shows the case: its lines. Where a notebook cannot run them, since they use the check's own tools or are too many,
    the last line is the call that replays the case. A number means the same case for one seed only: of a secret seed there is
    no such call.
    """
    if lines := as_code(aspect, case):
        return lines
    inputs = [f"{name} = {text}" for name, text in case.inputs.items()]
    said = next((lines for lines in (program(aspect, case), inputs) if is_short(lines)), [] if in_notebook else inputs)
    call = f'from autograder.notebook import case; case("{check}", {number})'
    return "\n".join([*said, call] if in_notebook else said)


def as_code(aspect: Aspect, case: Case) -> str:
    """The lines that show the case in a cell; "" if they need the check's own tools, or are too long."""
    if "lines" in case.inputs and not aspect.points:  # examples of a docstring
        return "\n".join(case.values["lines"])
    if "program" in case.values:  # it prints what is compared
        others = [f"{name} = {text}" for name, text in case.inputs.items() if name != "program"]
        return "\n".join([*others, case.values["program"]])
    if any(is_name(node, "tools") for node in ast.walk(ast.parse(aspect.source))):
        return ""
    lines = program(aspect, case)
    return "\n".join(lines) if is_short(lines) else ""


def as_whole_code(aspect: Aspect, case: Case) -> str:
    """The case as code, however long, and with the check's own tools."""
    return as_code(aspect, case) or "\n".join(program(aspect, case))


def is_short(lines: list[str]) -> bool:
    return len(lines) <= LONGEST and max(map(len, lines), default=0) <= WIDEST


def program(aspect: Aspect, case: Case) -> list[str]:
    """The observation's lines with the inputs in place, and without its pauses."""
    function = ast.parse(aspect.source).body[0]
    assert isinstance(function, ast.FunctionDef)
    uses = [n.attr for n in ast.walk(function) if isinstance(n, ast.Attribute) and is_name(n.value, "case")]
    inline = {name for name in uses if uses.count(name) == 1 and not is_shared(name, case)}
    made = InPlace({name: text for name, text in case.inputs.items() if name in inline})
    lines = [f"{name} = {text}" for name, text in case.inputs.items() if name in uses and name not in inline]
    for statement in function.body:
        if is_pause(statement) or isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        new = made.visit(statement)
        if isinstance(new, ast.Return) and new.value is not None:
            lines.append(returned(new.value))
        else:
            lines += ast.unparse(ast.fix_missing_locations(new)).splitlines()
    return lines


def is_name(node, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def is_shared(name: str, case: Case) -> bool:
    """Whether another input refers to this one."""
    return any(
        is_name(node, name)
        for other, text in case.inputs.items()
        if other != name
        for node in ast.walk(ast.parse(text, mode="eval"))
    )


def is_pause(statement) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield)


def returned(value: ast.expr) -> str:
    """A dict of parts as its parts: `y.data, a.grad`."""
    if isinstance(value, ast.Dict):
        parts = [part.body if isinstance(part, ast.Lambda) else part for part in value.values]
        return ", ".join(ast.unparse(ast.fix_missing_locations(part)) for part in parts)
    return ast.unparse(ast.fix_missing_locations(value))


class InPlace(ast.NodeTransformer):
    """`student.f` becomes `f`, and `case.a` the input's text, or `a` where it is set above."""

    def __init__(self, texts: dict[str, str]):
        self.texts = texts

    def visit_Call(self, node):
        """`(lambda a, b: a + b)(a, b)` is `a + b`."""
        call = self.generic_visit(node)
        assert isinstance(call, ast.Call)
        if isinstance(call.func, ast.Lambda) and [arg.arg for arg in call.func.args.args] == [
            getattr(n, "id", "") for n in call.args
        ]:
            return call.func.body
        return call

    def visit_Attribute(self, node):
        if is_name(node.value, "student"):
            return ast.Name(node.attr, node.ctx)
        if is_name(node.value, "case"):
            text = self.texts.get(node.attr)
            return ast.parse(text, mode="eval").body if text else ast.Name(node.attr, node.ctx)
        return self.generic_visit(node)
