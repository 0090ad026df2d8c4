"""No small change of a reference solution goes unnoticed; and the tool that says so, tested.

All mutants of all checks are run, none is sampled: one takes some 30 ms.
"""

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.checks import all_checks, find
from autograder.judge.mutants import (
    SECONDS,
    cell_of,
    earned_apart,
    earns_all_points,
    mutants_of,
    mutants_of_cell,
    survivors,
)
from autograder.lesson.text import Cell

MARKED = '''
def area(width, height=2):
    """1 + 1 is no code."""
    ### BEGIN SOLUTION
    if width < 0:
        raise ValueError("width - 1")
    return width * height  # "·" is two bytes
    ### END SOLUTION
'''
KERNEL = '''
AREA = """
// width[0] + 1
__kernel void area(__global const float *width, __global float *out, int n)
{
    ### BEGIN SOLUTION
    int i = get_global_id(0);
    if (i < n) out[i] = width[i] * 2.0f;  // i < n
    ### END SOLUTION
}
"""
'''


def edits(marked):
    return {(mutant.line, mutant.after) for mutant in mutants_of_cell(Cell("exercise", marked.strip("\n"), "id"))}


@pytest.mark.long
@pytest.mark.parametrize("check", all_checks().values(), ids=lambda check: check.name)
def test_every_small_change_of_a_solution_loses_points_or_is_declared_a_variant(check):
    assert [f"{mutant.before} → {mutant.after}" for mutant in survivors(check, mutants_of(check))] == []


def test_only_what_a_student_writes_is_edited():
    found = edits(MARKED)
    assert {line for line, _ in found} == {3, 5}
    assert {
        (3, "if (width <= 0):"),
        (3, "if False:"),
        (3, "if height < 0:"),
        (5, 'return (width + height)  # "·" is two bytes'),
        (5, 'return width  # "·" is two bytes'),
    } <= found


def test_an_index_with_slices_is_turned_round_without_parentheses():
    marked = MARKED.replace("return width * height", "return width[:, height]")
    assert (5, 'return width[height, :]  # "·" is two bytes') in edits(marked)


def test_a_kernel_is_edited_token_by_token_but_not_in_its_comments():
    found = edits(KERNEL)
    assert {line for line, _ in found} == {5, 6}
    assert {
        (5, "int i = get_local_id(0);"),
        (5, "int i = get_global_id((0 + 1));"),
        (6, "if (i <= n) out[i] = width[i] * 2.0f;  // i < n"),
        (6, "out[i] = width[i] * 2.0f;  // i < n"),
        (6, "if (i < n) out[i] = out[i] * 2.0f;  // i < n"),
        (6, "if (i < n) out[i] = width[i];  // i < n"),
        (6, "if (i < n) out[i] = width[i] * (2.0f + 1);  // i < n"),
        (6, "if (i < n) width[i] = width[i] * 2.0f;  // i < n"),
    } <= found
    assert all(after.endswith("// i < n") for line, after in found if line == 6)


def test_each_mutant_comes_once_and_none_is_the_solution_itself():
    found = mutants_of(find("value.add"))
    assert len({mutant.source for mutant in found}) == len(found)
    assert not [mutant for mutant in found if mutant.before == mutant.after]


def test_a_check_that_takes_any_number_for_right_lets_mutants_survive(monkeypatch):
    check = find("start.double")
    monkeypatch.setattr("autograder.judge.case_verdict.is_right", lambda *outcome: True)
    assert "return (2 + x)" in [mutant.after for mutant in survivors(check, mutants_of(check))]


def test_a_mutant_that_never_ends_is_noticed_in_a_short_time():
    import time

    check, start = find("start.double"), time.monotonic()
    assert not earns_all_points(check, "def double(x):\n    while True:\n        pass")
    assert time.monotonic() - start < 3 * SECONDS
    assert check.seconds > SECONDS  # the check itself keeps its time


def test_a_kernel_that_never_ends_is_stopped_with_its_process():
    check = find("start.kernel")
    solved = cell_of(check).solved
    endless = solved.replace("if (i < n) {", "volatile int on = 1; while (on) ; if (i < n) {")
    assert earned_apart(check, [endless, solved]) == [False, True]


def test_the_command_says_how_many_there_are():
    said = CliRunner().invoke(main, ["mutants", "start.double"], catch_exceptions=False).output
    assert said == f"start.double: {len(mutants_of(find('start.double')))} mutants, 0 not noticed\n"
