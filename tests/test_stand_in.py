"""A module of the package less what is asked for: it runs on what the notebook defines, and until then says what to do."""

import sys
import threading
import types

import pytest

from autograder.errors import CourseError
from autograder.lesson.symbols import with_stand_ins

PACKAGE = '''"""A module of the package."""

from __future__ import annotations

import contextlib

SIZE = (1,
        2)


def f(x, y=SIZE):
    """Doc."""

    @secret
    def inner():
        return x

    return inner()


@contextlib.contextmanager
def inside(what):
    """Doc."""
    secret()
    yield what


class Base:
    def __init__(self):
        self.made = ["Base"]


class C(Base):  # a class of which some methods are asked for
    """Doc."""

    kind = "package"

    def __init__(self):
        """Doc."""
        super().__init__()
        self.made.append("secret")

    @property
    def a(self):
        """Doc."""
        return secret(1)

    @a.setter
    def a(self, value):
        secret(2)

    @staticmethod
    def b(x):
        return secret(3)

    @classmethod
    def name(cls):
        return secret(4)

    def __add__(self, other): return secret(5)

    def kept(self):
        return self + 1

    def is_one(self, other):
        return isinstance(other, C)


class D(C):
    """One of the package that is derived from it."""

    def __init__(self):
        super().__init__()
        self.made.append("D")


class Constants:
    """It has no method, so a stub shows all of it."""

    limit = 3


def use():
    """It found f when it was defined."""
    return early(1)


early = f
'''
ASKED = ["m:f", "m:inside", "m:C[__init__ a b name]", "m:C.__add__", "m:SIZE", "m:Constants"]
NOTEBOOK = """
import contextlib
from tinygrad_cl.sample import Base, D

def f(x, y=0):
    return ["f of mine", x]

@contextlib.contextmanager
def inside(what):
    yield ["inside of mine", what]

class C(Base):
    def __init__(self):
        super().__init__()
        self.made.append("C of mine")

    @property
    def a(self):
        return "a of mine"

    @a.setter
    def a(self, value):
        self.got = value

    @staticmethod
    def b(x):
        return ["b of mine", x]

    @classmethod
    def name(cls):
        return ["name of mine", cls.__name__, cls.helper()]

    @classmethod
    def helper(cls):
        return "helper of mine"

    def also(self):
        return "also of mine"

    def __add__(self, other):
        return [isinstance(self, C), isinstance(other, C), self.also()]
"""
STUBS = """
import contextlib

def f(x, y=0):
    '''Doc.'''
    raise NotImplementedError

@contextlib.contextmanager
def inside(what):
    raise NotImplementedError

class C:
    def __init__(self):
        raise NotImplementedError

    @property
    def a(self):
        raise NotImplementedError

    @a.setter
    def a(self, value):
        raise NotImplementedError

    @staticmethod
    def b(x):
        raise NotImplementedError

    @classmethod
    def name(cls):
        raise NotImplementedError

    def __add__(self, other):
        '''Doc.'''
        raise NotImplementedError
"""


@pytest.fixture
def package(monkeypatch):
    """The module, under a name of the package."""
    module = types.ModuleType("tinygrad_cl.sample")
    source = with_stand_ins(PACKAGE, {symbol: f"{{name}} is for you: {symbol}" for symbol in ASKED})
    assert "secret" not in source and source.count('"""Doc."""') == PACKAGE.count('"""Doc."""')
    exec(source, vars(module))
    monkeypatch.setitem(sys.modules, "tinygrad_cl.sample", module)
    return module


@pytest.fixture
def notebook(monkeypatch):
    """A function that runs a cell of a notebook."""
    module = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    return lambda source: exec(source, vars(module))


def uses(package):
    """{what is asked for: a call that needs it}"""
    bare = package.C.__new__(package.C)
    return {
        "f": package.use,
        "inside": lambda: package.inside(1).__enter__(),
        "C.__init__": package.C,
        "C.a": lambda: bare.a,
        "C.b": lambda: package.C.b(1),
        "C.name": package.D.name,
        "C.__add__": bare.kept,
    }


@pytest.mark.parametrize(
    "cell",
    ["", STUBS, "from tinygrad_cl.sample import f, inside, C", "f = inside = C = 1", "class C: pass"],
    ids=["nothing", "stubs", "imports of the same", "other things", "a class without them"],
)
def test_until_it_is_written_an_error_says_what_to_do(cell, package, notebook):
    notebook(cell)
    for name, use in uses(package).items():
        with pytest.raises(NotImplementedError, match=rf"^{name} is for you: m:\w+"):
            use()
    assert package.SIZE == (1, 2) and package.Constants.limit == 3, "what a stub shows as well"


def test_the_package_runs_on_what_the_notebook_defines(package, notebook):
    notebook(NOTEBOOK)
    assert package.use() == ["f of mine", 1]
    with package.inside(2) as found:
        assert found == ["inside of mine", 2]
    c, d = package.C(), package.D()
    assert (c.made, d.made) == (["Base", "C of mine"], ["Base", "C of mine", "D"])
    assert c.a == "a of mine" and package.C.b(1) == ["b of mine", 1]
    c.a = 3
    assert c.got == 3 and c.kind == "package"
    assert package.D.name() == ["name of mine", "D", "helper of mine"]
    assert c + d == [True, True, "also of mine"] and d.kept() == [True, False, "also of mine"]
    with pytest.raises(AttributeError, match="^'D' object has no attribute 'nothing'$"):
        d.nothing
    with pytest.raises(AttributeError, match="^type object 'D' has no attribute 'nothing'$"):
        package.D.nothing


def test_an_object_of_the_one_class_is_one_of_the_other(package, notebook):
    notebook(NOTEBOOK)
    mine = sys.modules["__main__"].C
    assert isinstance(mine(), package.C) and issubclass(mine, package.C) and package.C().is_one(mine())
    assert isinstance(package.C(), mine) and isinstance(package.D(), mine)
    assert not isinstance(mine(), package.D) and not isinstance(package.Base(), (mine, package.C))
    assert type(package.D()) is package.D and isinstance(package.D(), package.D)


def test_what_is_defined_anew_counts_from_then_on(package, notebook):
    notebook(NOTEBOOK)
    c = package.C()
    notebook("def f(x): return 'once more'\nclass C:\n    def __add__(self, other): return 'once more'")
    assert package.use() == c.kept() == "once more"
    found = []
    thread = threading.Thread(target=lambda: found.append(package.use()))
    thread.start()
    thread.join()
    assert found == ["once more"]


def test_a_method_added_to_a_class_counts(package, notebook):
    notebook(
        "from autograder.student import add_to_class\n\nclass C: pass\n\n"
        "@add_to_class(C)\ndef __add__(self, other):\n    return 'added'\n"
    )
    assert package.C.__new__(package.C) + 1 == "added"


def test_a_method_added_to_the_packages_own_class_counts(package, notebook):
    """A notebook may import the class, and add to it what is asked for."""
    notebook("from tinygrad_cl.sample import C\nC.__add__ = lambda self, other: 'added'")
    assert package.C.__new__(package.C) + 1 == "added"


def test_generators_and_their_errors_are_the_notebooks(package, notebook):
    notebook("def f(x):\n    yield x\n    raise NotImplementedError('of mine')")
    found = package.use()
    assert next(found) == 1
    with pytest.raises(NotImplementedError, match="^of mine$"):
        next(found)


def test_a_class_with_a_metaclass_is_refused():
    with pytest.raises(CourseError, match="C has a metaclass: its methods cannot be pulled"):
        with_stand_ins("class C(metaclass=M):\n    def f(self):\n        return 1\n", {"m:C": ""})
