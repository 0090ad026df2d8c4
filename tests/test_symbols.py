"""Solutions pulled by symbol, and what of them a student sees."""

import ast

import numpy as np
import pytest

from autograder.errors import CourseError
from autograder.lesson.symbols import (
    BEGIN,
    END,
    mark_solutions,
    pull,
    split_symbols,
    strip_markers,
    stubbed,
)
from autograder.student import add_to_class
from tinygrad_cl.tensor import Tensor


def test_a_method_comes_dedented_with_its_decorator():
    source = pull("tinygrad_cl.scalar:Value.__mul__")
    assert source.startswith('@add_to_class(Value)\ndef __mul__(self, other):\n    """')
    ast.parse(source)


def test_a_property_comes_with_its_decorator_and_can_be_added_to_its_class():
    class Context:
        kept, tensor_type = (1, None), Tensor

    source = pull("tinygrad_cl.tensor.core.function:Context.saved_tensors")
    assert source.startswith("@add_to_class(Context)\n@property\ndef saved_tensors(self):")
    exec(source, {"Context": Context, "add_to_class": add_to_class, "np": np})
    assert Context().saved_tensors == (1, None)


def test_a_function_comes_whole():
    assert pull("tinygrad_cl.scalar:as_value").startswith("def as_value(x):")


def test_a_class_comes_with_its_docstring_and_the_named_members_alone():
    tree = ast.parse(pull("tinygrad_cl.scalar:Value[__array_ufunc__ __init__]")).body[0]
    assert ast.get_docstring(tree)
    assert [getattr(node, "name", None) for node in tree.body[1:]] == [None, "__init__"]


def test_symbols_are_split_at_spaces_outside_brackets():
    assert split_symbols("a.b:C[x y] a.b:f a.b:C.m") == ["a.b:C[x y]", "a.b:f", "a.b:C.m"]


def test_the_body_after_the_docstring_is_the_solution():
    source = 'def f(x):\n    """Doc."""\n    y = x\n    return y\n\n\ndef g():\n    return 1\n'
    marked = mark_solutions(source)
    assert marked.splitlines() == [
        "def f(x):",
        '    """Doc."""',
        f"    {BEGIN}",
        "    y = x",
        "    return y",
        f"    {END}",
        "",
        "",
        "def g():",
        f"    {BEGIN}",
        "    return 1",
        f"    {END}",
    ]
    assert strip_markers(marked) == source.rstrip("\n")


def test_in_a_class_the_body_of_each_method_is_the_solution():
    source = 'class F(G):\n    """Doc."""\n\n    any_dtype = True\n\n    @staticmethod\n    def forward(ctx, x):\n        return x\n'
    marked = mark_solutions(source)
    assert strip_markers(marked) == source.rstrip("\n")
    assert stubbed(marked) == source.replace("return x", "raise NotImplementedError").rstrip("\n")


@pytest.mark.parametrize(
    "symbol, part",
    [
        ("tinygrad_cl.scalar:Valu", "there is no Valu"),
        ("tinygrad_cl.scalar:Value.__mull__", "there is no __mull__"),
        ("tinygrad_cl.scalar:Value[__mull__]", "there is no __mull__"),
        ("tinygrad_cl.nothing:f", "there is no module"),
        ("no symbol", "is no symbol"),
    ],
)
def test_a_wrong_symbol_is_one_sentence(symbol, part):
    with pytest.raises(CourseError, match=part):
        pull(symbol)
