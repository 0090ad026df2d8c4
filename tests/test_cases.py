"""Cases and aspects: inputs as expressions, what the runner adds to them, and what is said of those that fail."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.checks.aspect import Aspect, text_of
from autograder.checks.cases import (
    Case,
    Draft,
    Source,
    Text,
    array,
    axes_of,
    broadcast,
    choice,
    filled,
    fixed,
    literal,
    number,
)
from autograder.checks.inside import Outcome, Trial, run_cases
from autograder.checks.tools import Tools
from autograder.judge.case_verdict import CONDITIONS, Cases
from autograder.judge.counterexample import as_code
from autograder.judge.expected import DOUBLE, SINGLE, nudged
from autograder.judge.fingerprint import OF_MISTAKES, decode, encode
from autograder.judge.outcome import MISSING, of_label, same
from autograder.judge.tags import tags_of
from autograder.judge.where import where

RNG = np.random.default_rng(0)
PLAIN = st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False) | st.text(max_size=5)


@given(st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=6))
def test_a_literal_makes_its_value_again(value):
    assert eval(literal(value), {"np": np, "math": __import__("math")}) == value


@given(
    hnp.arrays(st.sampled_from([np.float64, np.float32, np.int64, np.bool_]), hnp.array_shapes(min_dims=0, min_side=0))
)
def test_a_literal_of_an_array_has_its_type_shape_and_numbers(made):
    again = eval(literal(made), {"np": np, "math": __import__("math")})
    assert again.shape == made.shape and (again.dtype == made.dtype or not made.size)
    assert np.array_equal(again, made, equal_nan=made.dtype.kind == "f")


def test_a_transposed_view_stays_one():
    text = literal(filled((2, 3), "transposed", RNG))
    assert text.endswith(".T") and not eval(text, {"np": np}).flags.c_contiguous


@pytest.mark.parametrize("source", [array("x"), broadcast("a", "b"), number("a") * number("b"), choice("n", 1, 2)])
def test_the_small_ones_come_first_and_none_comes_twice(source):
    cases = source.choose(np.random.default_rng(1), 20, 5 if source.draw else 0)
    keys = [tuple(case.inputs.items()) for case in cases]
    assert len(set(keys)) == len(keys) <= 25
    sizes = [sum(np.size(value) for value in case.values.values()) for case in cases]
    assert sizes[0] == min(sizes)
    assert [case.drawn for case in cases] == sorted(case.drawn for case in cases)


def test_sources_are_added_multiplied_filtered_and_may_depend_on_earlier_inputs():
    both = (choice("a", 1, 2) * choice("b", 1, 2)).where(lambda a, b: a <= b)
    assert [tuple(case.values.values()) for case in both.choose(RNG, 9, 0)] == [(1, 1), (1, 2), (2, 2)]
    more = (fixed(n=2) + fixed(n=3)).each(axis=lambda n: range(n)).add(total=lambda n, axis: 10 * n + axis)
    assert sorted(case.values["total"] for case in more.choose(RNG, 9, 0)) == [20, 21, 30, 31, 32]
    assert all("odd" in case.tags for case in choice("n", 1, 3).tagged("odd").choose(RNG, 9, 0))
    assert axes_of(1) == [None, 0, -1, ()] and (1, 0) in axes_of(2)


def test_the_same_object_twice_is_one_object():
    case = Draft({"a": np.ones(2), "b": Text("a")}).case()
    assert case.values["a"] is case.values["b"]


def observed(observe, cases, namespace, **options):
    """The trials of an aspect, and what is wrong in them beside those of the reference `right`."""
    aspect = Aspect("it", 1.0, text_of(observe, "observe"), None, listed=cases, **options)
    request = [{"observe": aspect.source, "cases": [case.inputs for case in cases]}]
    mine, right = (run_cases(request, names, Tools(), 5) for names in (namespace, {"f": namespace["right"]}))
    plan = [(aspect, case) for case in cases]
    return mine, Cases(None, "", plan, right, {"it": tuple(CONDITIONS)}).failed(mine)


NUMBERS = [Case({"x": f"np.array([{float(n)}, 1.0])"}) for n in range(6)]


def call(student, case):
    return student.f(case.x)


def double(x):
    return 2 * x


def test_right_code_fails_nowhere_and_wrong_code_where_it_is_wrong():
    assert not observed(call, NUMBERS, {"f": double, "right": double})[1]
    failed = observed(call, NUMBERS, {"f": lambda x: x * x, "right": double})[1]
    assert sorted(failed) == [0, 1, 2, 3, 4, 5] and failed[0].parts


def test_inputs_that_are_changed_are_found():
    def f(x):
        x *= 2
        return x.copy()

    failed = observed(call, NUMBERS, {"f": f, "right": double})[1]
    assert {label for fail in failed.values() for label, _ in fail.conditions} == {"~inputs"}


def test_results_that_a_later_call_changes_are_found():
    kept = np.zeros(2)

    def f(x):
        kept[:] = 2 * x
        return kept

    failed = observed(call, NUMBERS, {"f": f, "right": double})[1]
    assert "~later" in {label for fail in failed.values() for label, _ in fail.conditions}


def test_what_is_kept_between_calls_is_found():
    calls = []

    def f(x):
        calls.append(x)
        return 2 * x if len(calls) <= len(NUMBERS) else 3 * x

    failed = observed(call, NUMBERS, {"f": f, "right": double})[1]
    assert any(label.startswith("~again") for fail in failed.values() for label, _ in fail.conditions)


def test_two_that_pause_run_at_once():
    def halves(student, case):
        student.f.start(case.x)
        yield
        return student.f.finish()

    class OnTheClass:
        @classmethod
        def start(cls, x):
            cls.x = x

        @classmethod
        def finish(cls):
            return 2 * cls.x

    class Right:
        def start(self, x):
            self.waiting = [*getattr(self, "waiting", []), x]

        def finish(self):
            return 2 * self.waiting.pop(0)

    assert not observed(halves, NUMBERS, {"f": Right(), "right": Right()})[1]
    assert observed(halves, NUMBERS, {"f": OnTheClass(), "right": Right()})[1]


def test_a_condition_that_is_not_asked_for_costs_nothing():
    def f(x):
        x *= 2
        return x.copy()

    mine, _ = observed(call, NUMBERS, {"f": f, "right": double})
    plan = [(Aspect("it", 1.0, "", None), case) for case in NUMBERS]
    right = run_cases(
        [{"observe": text_of(call, "observe"), "cases": [c.inputs for c in NUMBERS]}], {"f": double}, Tools(), 5
    )
    assert not Cases(None, "", plan, right, {}).failed(mine)


def test_an_endless_loop_ends_its_aspect_alone():
    def f(x):
        while x[0] == 1:
            pass
        return 2 * x

    requests = [{"observe": text_of(call, "observe"), "cases": [case.inputs for case in NUMBERS]}] * 2
    trials = run_cases(requests, {"f": f}, Tools(), 0.6)
    assert len(trials) == 12 and trials[0][""].array.tolist() == [0, 2] == trials[6][""].array.tolist()
    assert {trial[""].error["type"] for trial in (*trials[1:6], *trials[7:])} == {"ProbeTimeout"}


@pytest.mark.parametrize(
    "options, f, fails",
    [
        ({}, lambda x: [float(n) for n in 2 * x] + [0.0] * 0, True),  # two parts, and an array
        ({"at_most": ("",)}, lambda x: x, False),
        ({"at_most": ("",)}, lambda x: 3 * x, True),
        ({"exact": "an array"}, lambda x: (2 * x).astype(np.float32), True),
        (
            {"agrees": "def agrees(expected, got):\n    return got[''].sum() == expected[''].sum()"},
            lambda x: 2 * x[::-1],
            False,
        ),
        ({"agrees": "def agrees(expected, got):\n    return got['nothing']"}, lambda x: 2 * x, True),
    ],
)
def test_how_an_aspect_compares(options, f, fails):
    assert bool(observed(call, NUMBERS, {"f": f, "right": double}, **options)[1]) == fails


def test_a_special_kind_of_the_error_that_is_asked_for_is_as_good():
    def refuse(error):
        def f(x):
            raise error("no")

        return f

    assert not observed(call, NUMBERS, {"f": refuse(UnicodeError), "right": refuse(ValueError)})[1]
    assert observed(call, NUMBERS, {"f": refuse(ValueError), "right": refuse(UnicodeError)})[1]


@given(st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=4), min_size=8, max_size=30), st.data())
def test_where_is_true(tags, data):
    """Whatever is said exactly holds for all failing cases and for no other."""
    fails = [data.draw(st.booleans()) for _ in tags]
    failing = [each for each, fail in zip(tags, fails) if fail]
    passing = [each for each, fail in zip(tags, fails) if not fail]
    said = where(failing, passing)
    kind, _, words = said.removesuffix(", but not always there").partition(" where ")
    bad, good = [holds(words, each) for each in failing], [holds(words, each) for each in passing]
    assert {
        "": not words,
        "wrong exactly": all(bad) and not any(good),
        "wrong everywhere but": not any(bad) and all(good),
        "wrong only": all(bad),
    }[kind]


def holds(words, tags):
    """Whether what is said of a case is so: "a", "a and b", "a, or b"."""
    if ", or " in words:
        return any(word in tags for word in words.split(", or "))
    return all(word in tags for word in words.split(" and "))


@pytest.mark.parametrize(
    "failing, passing, said",
    [
        (["ax", "ay", "axy", "a", "a"], ["x", "y", "xy", "", ""], "wrong exactly where a"),
        (["x", "y", "xy", "", ""], ["ax", "ay", "a", "a", "axy"], "wrong everywhere but where a"),
        (["a", "b"] * 5, ["x", "y", ""] * 2, "wrong exactly where a, or b"),
        (["xyz", "xy", "z", "zy", "", "x"], ["ax", "bz"] * 5, "wrong everywhere but where a, or b"),
        (["a"] * 8, ["a", "x", "y", "", "xy", "y", "z", ""], "wrong only where a, but not always there"),
        (["a", "b", ""] * 3, ["a", "b", ""] * 3, ""),
    ],
)
def test_the_simplest_words_are_said(failing, passing, said):
    assert where([frozenset(each) for each in failing], [frozenset(each) for each in passing]) == said


@pytest.mark.parametrize(
    "failing, passing",
    [
        (["a"] * 4, ["x", "y", "z", "", ""]),  # few fail
        (["a"] * 9, ["x", "y", "z", ""]),  # few pass
        (["a"] * 8 + ["b"], ["x", "y", ""] * 3),  # b has one case
        (["ab"] * 9, ["a", "b"] * 6),  # only two words together fit
        (["a"] * 8, ["a"] * 5 + [""] * 50),  # a fails hardly more often than not
        (["a"] * 12, ["a"] * 2 + [""] * 6),  # what passes seldom lacks a
    ],
)
def test_what_may_fit_by_chance_is_not_said(failing, passing):
    assert where([frozenset(each) for each in failing], [frozenset(each) for each in passing]) == ""


def test_the_words_of_the_author_come_first_and_then_the_line_of_a_program():
    line, part, own = "p has the line `y = f(x)`", "p uses `f`", "something that only the author knows"
    failing, passing = [frozenset({line, part, own})] * 5, [frozenset()] * 5
    assert where(failing, passing, frozenset({own})).endswith(own)
    assert where([tags - {own} for tags in failing], passing).endswith(line)


def test_tags_say_what_is_special():
    case = Case({"a": "np.array([[0.0, 1.0]]).T", "b": "a", "axis": "(1, 0)", "n": "3", "f": "lambda x: relu(x) * x"})
    found = tags_of(case)
    assert {"a holds 0", "a or b holds 0", "a and b are the same array", "axis is a tuple", "n is odd"} <= found
    assert {"f uses `relu`", "f uses `*`"} <= found and "f uses a number" not in found


def test_a_number_that_is_drawn_and_the_way_of_a_launch_are_no_words():
    assert "rate is 0" in tags_of(Case({"rate": "0.0"})) and "rate is 1" in tags_of(Case({"rate": "1"}))
    assert not any("7" in tag for tag in tags_of(Case({"n": "7"})))
    launch = Case({"n": "7", "work_items": "8", "first": "1"}, ("there are work-items too many",))
    assert not any("work_items" in tag or "first" in tag for tag in tags_of(launch)) and set(launch.tags) <= tags_of(
        launch
    )
    assert "first is 1" in tags_of(Case({"first": "1"}))


def test_tags_of_shapes_kinds_programs_and_of_arrays_that_are_handed_to_the_student():
    found = tags_of(Case({"grad": "np.zeros((2, 3))", "shape": "(3,)", "kind": "np.float32", "f": "lambda x: x + 2"}))
    assert {"grad has more axes than shape has entries", "kind is `np.float32`", "f uses a number"} <= found
    found = tags_of(Case({"p": "Parameter(queue, np.array([[1.0]]))", "program": "'y = x.mT\\nprint(y)'"}))
    assert {"p is one number", "program uses `mT`", "program has the line `print(y)`"} <= found


def test_a_case_is_shown_as_lines_that_can_be_run():
    def gradients(student, case):
        y = student.f(case.x)
        yield
        return {"y": y, "twice": student.f(case.x)}

    aspect = Aspect("it", 1.0, text_of(gradients, "observe"), None)
    code = as_code(aspect, NUMBERS[3])
    assert code == "x = np.array([3.0, 1.0])\ny = f(x)\ny, f(x)"
    names = {"np": np, "f": double}
    exec(code, names)
    assert names["y"].tolist() == [6.0, 2.0]
    tooled = Aspect("it", 1.0, "def observe(student, case, tools):\n    return tools.leaves(student, x=case.x)", None)
    assert as_code(tooled, NUMBERS[3]) == ""


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=4), elements=st.floats(-9, 9)))
def test_what_is_recorded_tells_an_array_from_one_that_differs(made):
    from autograder.checks.inside import Outcome

    for size in ((), OF_MISTAKES):
        recorded = decode(encode(Outcome(made), False, *size))
        assert same(recorded, Outcome(made), 1e-6, 1e-7) and same(Outcome(made), recorded, 1e-6, 1e-7)
        assert not same(recorded, Outcome(made + 0.5), 1e-6, 1e-7)
        assert not same(recorded, Outcome(made[None]), 1e-6, 1e-7)


def test_numbers_of_single_precision_may_differ_by_their_rounding():
    exact = np.linspace(0.1, 1, 20)
    for close, dtype, alike in ((2e-6, np.float32, True), (2e-6, np.float64, False), (1e-5, np.float32, False)):
        right, other = (Outcome(array.astype(dtype)) for array in (exact, exact * (1 + close)))
        for expected in (right, decode(encode(right))):
            assert same(expected, other, 1e-6, 0.0) == same(other, expected, 1e-6, 0.0) == alike
            assert not same(expected, other, 1e-9, 0.0)  # where double precision is asked for


@pytest.mark.parametrize("move", [DOUBLE, SINGLE])
def test_a_case_is_moved_by_its_last_digit_and_keeps_its_types(move):
    values = {"x": 0.3, "a": np.float32([[0.5, 2.0]]), "b": np.array([1.5, -2.5, 0.0]), "n": 3, "f": Text("np.tanh")}
    case = Draft(values).case()
    moved = {name: eval(text, {"np": np}) for name, text in nudged(case, move).inputs.items()}
    assert moved["n"] == 3 and moved["f"] is np.tanh and isinstance(moved["x"], float)
    for name in ("x", "a", "b"):
        one, other = np.asarray(values[name]), np.asarray(moved[name])
        assert one.dtype == other.dtype and one.shape == other.shape
        assert np.allclose(one, other, rtol=3e-7) and (one != other)[one != 0].all()


def test_a_source_without_draws_lists_all_there_is():
    source = Source(lambda rng: (Draft({"n": n}) for n in range(3)))
    assert [case.inputs["n"] for case in source.choose(RNG, 10, 10)] == ["0", "1", "2"]


def test_what_only_the_check_knows_is_no_word():
    found = tags_of(Case({"fill": "263597", "n": "5"}))
    assert "n is odd" in found and not [tag for tag in found if "fill" in tag]


def test_only_what_stands_in_every_case_is_called_right_in_all_of_them():
    def parts(student, case):
        return {"sum": case.x.sum(), "size": case.x.size, "wrong": student.f(case.x)} | (
            {"zero": 0} if case.x[0] == 0 else {}
        )

    aspect = Aspect("it", 1.0, text_of(parts, "observe"), None, listed=NUMBERS)
    request = [{"observe": aspect.source, "cases": [case.inputs for case in NUMBERS]}]
    mine, right = (run_cases(request, {"f": f}, Tools(), 5) for f in (lambda x: x, double))
    cases = Cases(None, "", [(aspect, case) for case in NUMBERS], right, {})
    assert cases.where(aspect, cases.failed(mine)).endswith("; right in all of them: size, sum")


def test_a_part_that_is_missing_is_not_the_whole_result():
    whole, error = Outcome(np.array("0 parts")), Outcome(error={"type": "ValueError", "message": "", "where": ""})
    assert of_label(Trial({"": whole}), "[0]") is MISSING and of_label(Trial({"": error}), "[0]") is error
