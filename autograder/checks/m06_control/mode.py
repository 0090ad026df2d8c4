"""Check 3 of lesson 06: a function that runs in one mode, whoever calls it."""

from autograder.checks.check import exercise
from autograder.checks.m06_control.mode_programs import (
    ERRORS,
    FIRST,
    GENERATORS,
    NAMED,
    OVERLAPPING,
    arguments,
    calling,
    failing,
    small,
    stepping,
)
from autograder.checks.programs import printed, scripts

control_mode = exercise("control.mode", "A function that runs in one mode, whoever calls it.")


def programs(texts, draw=None):
    return scripts(list(small(*texts)), draw)


control_mode.aspect("the mode of each call", 1.25, cases=programs(FIRST, calling), few=18)(printed)
control_mode.aspect("errors that end a call", 0.5, corner=True, cases=programs(ERRORS, failing), few=10)(printed)
control_mode.aspect(
    "arguments, result, name and docstring", 0.5, corner=True, cases=programs(NAMED, arguments), few=12
)(printed)
control_mode.aspect(
    "generator functions, step by step", 0.5, corner=True, cases=programs(GENERATORS, stepping), few=15
)(printed)
control_mode.aspect("calls that overlap in threads", 0.25, corner=True, cases=programs(OVERLAPPING))(printed)

CALL = """        with GradMode(enabled):
            return function(*args, **kwargs)
"""
BLOCK = "with GradMode(enabled):"

control_mode.mistake(
    "the block is around the definition, and over before the first call",
    swap=(CALL, "        return function(*args, **kwargs)\n"),
    hint=["When is `in_mode` called, and when the function?", "The block belongs into the inner function."],
)
control_mode.mistake(
    "the mode is the one in which the function was defined",
    swap=[("    if inspect", "    enabled = is_grad_enabled()\n    if inspect")],
    hint=["Who says which mode it is, the place or `enabled`?", "`GradMode(enabled)`, in the inner function."],
)
control_mode.mistake(
    "the mode is set and never put back",
    swap=(CALL, "        GradMode(enabled).__enter__()\n        return function(*args, **kwargs)\n"),
    hint=["After the call, what is the caller's mode?", "A `with` block puts back what it found."],
)
control_mode.mistake(
    "after the call, the mode is that of where the function was defined",
    swap=[
        ("    if inspect", "    before = is_grad_enabled()\n    if inspect"),
        (CALL, CALL.replace("return", "result =") + "        GradMode(before).__enter__()\n        return result\n"),
    ],
    hint=["Recursion: which mode does the inner call leave to the outer one?", "What each call finds, it puts back."],
)
control_mode.mistake(
    "an error leaves the mode as the function had it",
    swap=(
        CALL,
        "        block = GradMode(enabled)\n        block.__enter__()\n"
        "        result = function(*args, **kwargs)\n        block.__exit__()\n        return result\n",
    ),
    hint=["An error jumps over your last lines.", "A `with` block, or try … finally."],
)
control_mode.mistake(
    "the function is always off, whatever was asked for",
    swap=("GradMode(enabled)", "GradMode(False)"),
    hint="`enable_grad` hands over True: `GradMode(enabled)`.",
)
control_mode.mistake(
    "the result is not returned",
    swap=("            return function(*args, **kwargs)", "            function(*args, **kwargs)"),
    hint="The inner function has a result, too: `return`.",
)
control_mode.mistake(
    "keyword arguments are not passed on",
    swap=("return function(*args, **kwargs)", "return function(*args)"),
    hint="`def call(*args, **kwargs):` and `function(*args, **kwargs)`.",
)
control_mode.mistake(
    "the name and the docstring are those of the inner function",
    swap=[("    @wraps(function)\n", ""), ("wraps(function)(lambda", "(lambda")],
    hint="`@wraps(function)` above each inner function, also for generators.",
)
control_mode.mistake(
    "all calls share one GradMode, so threads take each other's old mode from its list",
    swap=[
        ("    @wraps(function)\n", "    block = GradMode(enabled)\n\n    @wraps(function)\n"),
        (BLOCK, "with block:"),
    ],
    hint=["Two threads: the one that enters first leaves first.", "A new `GradMode(enabled)` in each call."],
)
control_mode.mistake(
    "a generator function is treated as any other: its block is over before its first line runs",
    swap=("if inspect.isgeneratorfunction(function):", "if False:"),
    hint=["The call of a generator function runs none of its lines.", "`inspect.isgeneratorfunction`, and `Steps`."],
)
control_mode.mistake(
    "a generator's values are computed all at once, before the caller has the first",
    source="""
def in_mode(function, enabled):
    @wraps(function)
    def call(*args, **kwargs):
        with GradMode(enabled):
            result = function(*args, **kwargs)
            return (value for value in list(result)) if inspect.isgenerator(result) else result

    return call
""",
    hint=["A generator may have more values than anybody needs.", "A block for each step: `Steps`."],
)
control_mode.mistake(
    "one block lasts from a generator's first step to its last, so the caller's lines are in it",
    source="""
def in_mode(function, enabled):
    @wraps(function)
    def steps(*args, **kwargs):
        with GradMode(enabled):
            return (yield from function(*args, **kwargs))

    @wraps(function)
    def call(*args, **kwargs):
        with GradMode(enabled):
            return function(*args, **kwargs)

    return steps if inspect.isgeneratorfunction(function) else call
""",
    hint=["Between two values, the caller runs. In which mode?", "A block for each step: `Steps`."],
)
control_mode.variant(
    "a ContextDecorator, with an object for each call",
    source="""
from contextlib import ContextDecorator

class Mode(GradMode, ContextDecorator):
    def _recreate_cm(self):
        return Mode(self.enabled)

def in_mode(function, enabled):
    if not inspect.isgeneratorfunction(function):
        return Mode(enabled)(function)

    @wraps(function)
    def steps(*args, **kwargs):
        return Steps(function(*args, **kwargs), enabled)

    return steps
""",
)
control_mode.variant(
    "an object that can be called, and bound as a method",
    source="""
import functools
import types

class InMode:
    def __init__(self, function, enabled):
        functools.update_wrapper(self, function)
        self.function, self.enabled = function, enabled

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args, **kwargs):
        if inspect.isgeneratorfunction(self.function):
            return Steps(self.function(*args, **kwargs), self.enabled)
        with GradMode(self.enabled):
            return self.function(*args, **kwargs)

in_mode = InMode
""",
)
control_mode.variant(
    "by hand, with try and finally; it looks at what was returned",
    source="""
def in_mode(function, enabled):
    def inner(*positional, **named):
        before = is_grad_enabled()
        engine.set_grad_enabled(enabled)
        try:
            result = function(*positional, **named)
        finally:
            engine.set_grad_enabled(before)
        return Steps(result, enabled) if inspect.isgenerator(result) else result

    inner.__name__, inner.__doc__ = function.__name__, function.__doc__
    return inner
""",
)
control_mode.variant(
    "a generator for each generator, with a block for each step",
    source="""
def in_mode(function, enabled):
    def steps(*args, **kwargs):
        generator, step = function(*args, **kwargs), None
        step, argument = generator.send, None
        while True:
            try:
                with GradMode(enabled):
                    value = step(argument)
            except StopIteration as end:
                return end.value
            try:
                step, argument = generator.send, (yield value)
            except BaseException as error:
                step, argument = generator.throw, error

    def call(*args, **kwargs):
        with GradMode(enabled):
            return function(*args, **kwargs)

    return wraps(function)(steps if inspect.isgeneratorfunction(function) else call)
""",
)
