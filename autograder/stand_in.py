"""What stands in a copy of the package for what its module asks a student to write: the student's own.

A function or a method is looked up in the notebook (`__main__`) each time that it is called. So the package runs on the
definition that is there now, also after a cell was run again, or after the judge has put the reference in its place.
What is not written yet is the package's stub, which raises an error that says what to do. The solution itself is nowhere.

This file goes into the copies as it is, and imports nothing of ours.
"""

import functools
import inspect
import sys


def stub():
    raise NotImplementedError


STUB = stub.__code__  # what a stub in a notebook compiles to, whatever its arguments


def unwritten(sentence: str):
    """The body of a stub in the package."""
    raise NotImplementedError(sentence)


def is_written(found) -> bool:
    """Is this more than the stub of a notebook, whose body is `raise NotImplementedError`?"""
    code = getattr(inspect.unwrap(getattr(found, "fget", found)), "__code__", None)
    return code is None or code.co_names != STUB.co_names or code.co_code != STUB.co_code


def is_packages(thing) -> bool:
    """Does a function or class come from the package? What a notebook imports from there, it does not define."""
    return str(getattr(thing, "__module__", "")).startswith("tinygrad_cl.")


def in_notebook(name: str):
    """What the notebook defines under a name; None if it defines nothing."""
    found = vars(sys.modules["__main__"]).get(name)
    return None if is_packages(found) else found


def from_notebook(stub):
    """Decorator: the function is what the notebook defines under its name, and until then the stub below."""

    @functools.wraps(stub)
    def stand_in(*args, **kwargs):
        found = in_notebook(stub.__name__)
        return (found if callable(found) and is_written(found) else stub)(*args, **kwargs)

    return stand_in


class Method:
    """A method that is what the notebook has in its class of the same name; called on the package's objects."""

    def __init__(self, owner: str, name: str, stub):
        self.owner, self.name, self.stub = owner, name, stub

    def definition(self):
        """As it stands in the class: a function, a staticmethod, a property …"""
        for cls in getattr(in_notebook(self.owner), "__mro__", ()):
            found = vars(cls).get(self.name)
            if found is not None and cls is not object and not is_packages(cls) and is_written(found):
                return found
        return self.stub

    def __get__(self, instance, owner=None):
        found = self.definition()
        return found.__get__(instance, owner) if hasattr(found, "__get__") else found


class Property(Method):
    """A property that is what the notebook has in its class of the same name."""

    def __set__(self, instance, value):
        self.definition().__set__(instance, value)


class FromNotebook(type):
    """The type of a class whose methods are partly the notebook's: `class Value(metaclass=FromNotebook, asks=("exp", "log"))`.

    There are two classes of that name then, the package's and the notebook's. To isinstance an object of the one is one of
    the other, in the package and in the notebook. What else the notebook's class has, such as a helper of its methods,
    is found on objects of the package's class, too.
    """

    def __new__(cls, name, bases, namespace, asks=(), **options):
        for method in asks:
            stub = namespace[method]
            namespace[method] = (Property if hasattr(stub, "__set__") else Method)(name, method, stub)
        if asks:
            namespace["__class__"] = property(passes_as, object.__dict__["__class__"].__set__)
            if not any("__getattr__" in vars(each) for base in bases for each in base.__mro__):
                namespace.setdefault("__getattr__", helper)
        return super().__new__(cls, name, bases, namespace, **options)

    def __init__(cls, name, bases, namespace, asks=(), **options):
        super().__init__(name, bases, namespace, **options)

    def counterpart(cls) -> type | None:
        """The class that the notebook defines under the name of this one."""
        found = in_notebook(cls.__name__) if "__class__" in vars(cls) else None
        return found if isinstance(found, type) else None

    def counterparts(cls) -> list[type]:
        """The same for all that this class is derived from."""
        classes = [each.counterpart() for each in cls.__mro__ if isinstance(each, FromNotebook)]
        return [each for each in classes if each is not None]

    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or isinstance(instance, cls.counterpart() or ())

    def __subclasscheck__(cls, other):
        return super().__subclasscheck__(other) or issubclass(other, cls.counterpart() or ())

    def __getattr__(cls, name):
        return found_in(cls.counterparts(), name, None, cls)


def passes_as(self):
    """The class of an object of the package as isinstance and super see it in the notebook."""
    mine = type(self)
    return next((theirs for theirs in mine.counterparts() if not issubclass(mine, theirs)), mine)


def helper(self, name):
    return found_in(type(self).counterparts(), name, self, type(self))


def found_in(classes, name, instance, owner):
    """The attribute that one of the classes has, bound to an object or a class of the package."""
    for theirs in classes:
        for cls in theirs.__mro__:
            if name in vars(cls):
                found = vars(cls)[name]
                return found.__get__(instance, owner) if hasattr(found, "__get__") else found
    kind = f"type object {owner.__name__!r}" if instance is None else f"{owner.__name__!r} object"
    raise AttributeError(f"{kind} has no attribute {name!r}")
