"""The checks of lesson 01: slopes, the operations of `Value`, the order, `backward`, and a gradient check.

Until `backward` is written, the graph is walked by `tools.backpropagate`, from an upstream gradient that is neither 1 nor
positive. Numbers come with both signs, away from kinks, and no two are equal.
"""

from autograder.checks.check import check

# The whole lesson once more with closures, as in micrograd: right, and it must earn every point.
CLOSURES = {
    "value.add": '''
@add_to_class(Value)
def __add__(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, {self, other}, op="+")

    def _backward():
        self.grad += out.grad
        other.grad += out.grad
    out._backward = _backward
    return out
''',
    "value.mul": '''
@add_to_class(Value)
def __mul__(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, {self, other}, op="*")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad
    out._backward = _backward
    return out
''',
    "value.pow": '''
@add_to_class(Value)
def __pow__(self, other):
    if isinstance(other, Value):
        out = Value(math.exp(other.data * math.log(self.data)), {self, other}, op="**")

        def _backward():
            self.grad += other.data * out.data / self.data * out.grad
            other.grad += out.data * math.log(self.data) * out.grad
    else:
        out = Value(self.data ** other, {self}, op=f"**{other}")

        def _backward():
            self.grad += other * self.data ** (other - 1) * out.grad
    out._backward = _backward
    return out
''',
    "value.exp_log": '''
@add_to_class(Value)
def exp(self):
    out = Value(math.exp(self.data), {self}, op="exp")

    def _backward():
        self.grad += out.data * out.grad
    out._backward = _backward
    return out

@add_to_class(Value)
def log(self):
    out = Value(math.log(self.data), {self}, op="log")

    def _backward():
        self.grad += out.grad / self.data
    out._backward = _backward
    return out
''',
    "value.tanh_sigmoid": '''
@add_to_class(Value)
def tanh(self):
    out = Value(math.tanh(self.data), {self}, op="tanh")

    def _backward():
        self.grad += (1 - out.data ** 2) * out.grad
    out._backward = _backward
    return out

@add_to_class(Value)
def sigmoid(self):
    out = Value(0.5 * (1 + math.tanh(self.data / 2)), {self}, op="sigmoid")

    def _backward():
        self.grad += out.data * (1 - out.data) * out.grad
    out._backward = _backward
    return out
''',
    "value.relu": '''
@add_to_class(Value)
def relu(self):
    out = Value(max(0, self.data), {self}, op="relu")

    def _backward():
        self.grad += (self.data > 0) * out.grad
    out._backward = _backward
    return out
''',
    "value.backward": '''
@add_to_class(Value)
def backward(self):
    order = topological_order(self)
    for node in order:
        if hasattr(node, "_backward"):
            node.grad = 0.0
    self.grad = 1.0
    for node in reversed(order):
        if hasattr(node, "_backward"):
            node._backward()

@add_to_class(Value)
def zero_grad(self):
    for node in topological_order(self):
        node.grad = 0.0
''',
}


# -- 1 · slope ----------------------------------------------------------------------------------------------------------

@check("value.slope", points=2, rtol=1e-8)
def value_slope(student, rng, tools):
    """The slope of a function, measured with two points."""
    x, k, h = rng.uniform(1.2, 1.9), rng.uniform(2.0, 3.0), rng.uniform(0.2, 0.4)

    def cubic(t):
        return k * t ** 3 - t ** 2 + 1

    return {
        "input": f"f(x) = {k:.4g}·x³ − x² + 1, x = {x:.4g}, the wide step is h = {h:.4g}",
        "slope of f at x": lambda: student.slope(cubic, x),
        "slope of f at −x": lambda: student.slope(cubic, -x),
        "slope of exp at x": lambda: student.slope(math.exp, x),
        "slope of cos at x, where it falls": lambda: student.slope(math.cos, x),
        "slope of sin at 0": lambda: student.slope(math.sin, 0.0),
        "slope of f at x with a wide step": lambda: student.slope(cubic, x, h),
        "slope of f at −x with a wide step": lambda: student.slope(cubic, -x, h=h),
    }


value_slope.mistake(
    "only one side is measured: f(x + h) − f(x)", swap=("left, right = x - h, x + h", "left, right = x, x + h"),
    hint=["Where is the second point? The line should touch the curve on both sides of x.",
          "Go h to the left as well: f(x + h) − f(x − h), and the two are 2h apart."])
value_slope.mistake(
    "the rise over two steps is divided by one step", swap=("(right - left)", "h"),
    hint=["Your slopes are all too steep, by the same factor. Which one?",
          "From x − h to x + h it is 2h, not h."])
value_slope.mistake(
    "`/ 2 * h` divides by 2 and then multiplies by h", swap=("/ (right - left)", "/ 2 * h"),
    hint=["What does Python make of 8 / 2 * 4?", "Parentheses: … / (2 * h)."])
value_slope.mistake(
    "only f(x − h) is divided: parentheses are missing around the difference",
    swap=("(f(right) - f(left)) / (right - left)", "f(right) - f(left) / (right - left)"),
    hint=["Division goes before subtraction.", "Put the whole difference into parentheses: (f(x + h) - f(x - h)) / …"])
value_slope.mistake(
    "the points are the wrong way round: left minus right", swap=("f(right) - f(left)", "f(left) - f(right)"),
    hint=["Every slope has the wrong sign.", "Right minus left, over right minus left."])
value_slope.mistake(
    "h is not used: a step of its own is written into the function",
    swap=("left, right = x - h, x + h", "left, right = x - 1e-5, x + 1e-5"),
    hint=["With the usual step all is right. With another one?", "h is an argument: use it and no number of your own."])
value_slope.mistake(
    "the step is too small: f(x + h) and f(x − h) agree in nearly all digits",
    swap=("left, right = x - h, x + h", "h = 1e-13; left, right = x - h, x + h"),
    hint=["A float has 16 digits. How many are left after the subtraction?", "Keep to the h that was given."])
value_slope.mistake(
    "the step is a part of x, so at 0 there is none", swap=("left, right = x - h, x + h", "left, right = x - h * x, x + h * x"),
    hint=["What is your step at x = 0?", "h itself is the step, not a share of x."])
value_slope.mistake(
    "the result is not returned", swap=("return (", "result = ("),
    hint=["What does a function give back that has no `return`?", "return the result; a name inside is forgotten."])
value_slope.mistake(
    "the result is rounded", swap=("return (f(right) - f(left)) / (right - left)", "return round((f(right) - f(left)) / (right - left), 6)"),
    hint=["The example rounds the slope for the eye. Who rounds it there?", "Return the quotient as it is."])
value_slope.mistake(
    "the sign is lost: where the curve falls, the slope is negative", swap=("return (f(right) - f(left)) / (right - left)",
                                                                            "return abs(f(right) - f(left)) / (right - left)"),
    hint=["How steep is cos where it goes down?", "Right minus left, without `abs`."])
value_slope.variant("divided by 2h", source='''
def slope(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / (2 * h)
''')
value_slope.variant("the mean of the slopes on both sides", source='''
def slope(f, x, h=1e-5):
    forward = (f(x + h) - f(x)) / h
    backward = (f(x) - f(x - h)) / h
    return (forward + backward) / 2
''')
value_slope.variant("a NumPy number", source='''
import numpy as np
def slope(f, x, h=1e-5):
    return np.divide(f(x + h) - f(x - h), 2 * h)
''')
value_slope.variant("the points named the other way round: both differences change their sign",
                    swap=("x - h, x + h", "x + h, x - h"))


# -- 2 · the sum --------------------------------------------------------------------------------------------------------

@check("value.add", points=2, device=("a.grad", "b.grad", "a + a, a.grad"))
def value_add(student, rng, tools):
    """The sum of two Values, of a Value and a number, of a Value and itself."""
    x, y, up = rng.uniform(1.2, 1.9), -rng.uniform(0.3, 0.8), -rng.uniform(1.5, 2.5)

    def run(f):
        a, b = tools.leaves(student, a=x, b=y)
        out = f(a, b)
        after = [a.data, b.data, a.grad, b.grad]
        tools.backpropagate(out, upstream=up)
        return {"value": out.data, "a": a.grad, "b": b.grad, "after": after}

    return {
        "input": f"a = {x:.4g}, b = {y:.4g}; the gradient that arrives at the result is {up:.4g}",
        "a + b": lambda: run(lambda a, b: a + b)["value"],
        "a.grad": lambda: run(lambda a, b: a + b)["a"],
        "b.grad": lambda: run(lambda a, b: a + b)["b"],
        "a + a, a.grad": lambda: run(lambda a, b: a + a)["a"],
        "a + 2.5": lambda: run(lambda a, b: a + 2.5)["value"],
        "a + 2.5, a.grad": lambda: run(lambda a, b: a + 2.5)["a"],
        "a + 2": lambda: run(lambda a, b: a + 2)["value"],
        "b + a + b, b.grad": lambda: run(lambda a, b: b + a + b)["b"],
        "a and b afterwards: data of both, grad of both": lambda: run(lambda a, b: a + b)["after"],
    }


value_add.mistake(
    "a + 2.5 is not thought of: the number has no `.data`", swap=("other = as_value(other)", "pass"),
    hint=["What is `other` in a + 2.5?", "First line: `other = as_value(other)`."])
value_add.mistake(
    "a + 2 is not thought of: 2 is no `float`, but an `int`", swap=("other = as_value(other)", "other = Value(other) if isinstance(other, float) else other"),
    hint=["What is isinstance(2, float)?", "`as_value(other)` takes numbers of every kind."])
value_add.mistake(
    "`Value(self + other, …)` asks for the sum of the two boxes, so `__add__` calls itself without end",
    swap=("self.data + other.data", "self + other"),
    hint=["Whom does Python ask at self + other?", "Add the numbers: `self.data + other.data`."])
value_add.mistake(
    "a is changed: `self.data +=` writes the sum into it, too", swap=("return Value(self.data + other.data,", "self.data += other.data\n    return Value(self.data,"),
    hint=["What is in a after a + b?", "`self.data + other.data`, without `=`."])
value_add.mistake(
    "the numbers themselves are noted as local derivatives", swap=("(1.0, 1.0)", "(self.data, other.data)"),
    hint=["Wiggle a by a bit. By how many bits does a + b move?", "Both local derivatives are 1, whatever a and b are."])
value_add.mistake(
    "the rule of the product is noted: b for a and a for b", swap=("(1.0, 1.0)", "(other.data, self.data)"),
    hint=["Wiggle a by a bit. Does it matter for a + b how large b is?", "Both local derivatives are 1."])
value_add.mistake(
    "only the left operand is noted as a parent", swap=("(self, other), (1.0, 1.0)", "(self,), (1.0,)"),
    hint=["b moves the sum, too. Does the sum know b?", "Two parents, `(self, other)`, and two local derivatives."])
value_add.mistake(
    "the sum knows no parents: the graph is cut here", swap=(', (self, other), (1.0, 1.0), "+"', ""),
    hint=["The number is right, but where does it say what it was computed from?",
          "`Value(number, parents, local_derivatives, op)`: give it all four."])
value_add.mistake(
    "a is changed in place and returned, no new Value is made", source='''
@add_to_class(Value)
def __add__(self, other):
    other = as_value(other)
    self.data += other.data
    return self
''', hint=["What is a after a + b?", "Return a new `Value`; leave self as it is."])
value_add.mistake(
    "a plain number is returned, not a Value", source='''
@add_to_class(Value)
def __add__(self, other):
    return self.data + as_value(other).data
''', hint=["A plain number remembers nothing.", "Wrap it: `return Value(self.data + other.data, …)`."])
value_add.mistake(
    "the nudge is shared: each side gets a half", swap=("(1.0, 1.0)", "(0.5, 0.5)"),
    hint=["If only a goes up by a bit, does a + b go up by half of it?", "Each local derivative asks about one parent alone: 1 and 1."])
value_add.mistake(
    "`grad =` overwrites in the closure: of a + a only one path is left", source='''
@add_to_class(Value)
def __add__(self, other):
    other = as_value(other)
    out = Value(self.data + other.data, (self, other), op="+")

    def _backward():
        self.grad = out.grad
        other.grad = out.grad
    out._backward = _backward
    return out
''', hint=["In a + a the same box is reached twice. What does the second `=` do to the first?", "`+=`: over paths we add."])
value_add.mistake(
    "the closure adds 1 and forgets the gradient that arrives", source='''
@add_to_class(Value)
def __add__(self, other):
    other = as_value(other)
    out = Value(self.data + other.data, (self, other), op="+")

    def _backward():
        self.grad += 1.0
        other.grad += 1.0
    out._backward = _backward
    return out
''', hint=["Along a path we multiply. By what, here?", "Local derivative times `out.grad`."])
value_add.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_add.variant("whole numbers and lists", source='''
@add_to_class(Value)
def __add__(self, other):
    if not isinstance(other, Value):
        other = Value(other)
    return Value(other.data + self.data, [other, self], [1, 1], "+")
''')
value_add.variant("a number is a constant, no parent", source='''
@add_to_class(Value)
def __add__(self, other):
    if isinstance(other, (int, float)):
        return Value(self.data + other, (self,), (1.0,), "+")
    return Value(self.data + other.data, (self, other), (1.0, 1.0), "+")
''')
value_add.variant("the parents the other way round: both derivatives are 1", swap=("(self, other), (1", "(other, self), (1"))


# -- 3 · the product ----------------------------------------------------------------------------------------------------

@check("value.mul", points=2, device=("a.grad", "b.grad", "a · b · a, a.grad"))
def value_mul(student, rng, tools):
    """The product of two Values, of a Value and a number, of a Value and itself."""
    x, y, up = rng.uniform(1.2, 1.9), -rng.uniform(0.3, 0.8), -rng.uniform(1.5, 2.5)

    def run(f):
        a, b = tools.leaves(student, a=x, b=y)
        out = f(a, b)
        after = [a.data, b.data, a.grad, b.grad]
        tools.backpropagate(out, upstream=up)
        return {"value": out.data, "a": a.grad, "b": b.grad, "after": after}

    def times_zero():
        b, z = tools.leaves(student, b=y, z=0.0)
        tools.backpropagate(b * z, upstream=up)
        return [b.grad, z.grad]

    return {
        "input": f"a = {x:.4g}, b = {y:.4g}; the gradient that arrives at the result is {up:.4g}",
        "a · b": lambda: run(lambda a, b: a * b)["value"],
        "a.grad": lambda: run(lambda a, b: a * b)["a"],
        "b.grad": lambda: run(lambda a, b: a * b)["b"],
        "a · a, a.grad": lambda: run(lambda a, b: a * a)["a"],
        "a · b · a, a.grad": lambda: run(lambda a, b: a * b * a)["a"],
        "a · b · a, b.grad": lambda: run(lambda a, b: a * b * a)["b"],
        "b · 2.5": lambda: run(lambda a, b: b * 2.5)["value"],
        "b · 2.5, b.grad": lambda: run(lambda a, b: b * 2.5)["b"],
        "b · 2": lambda: run(lambda a, b: b * 2)["value"],
        "b · z with z = 0: b.grad and z.grad": times_zero,
        "a and b afterwards: data of both, grad of both": lambda: run(lambda a, b: a * b)["after"],
    }


value_mul.mistake(
    "each factor keeps its own value as local derivative, not the other's",
    swap=("(other.data, self.data)", "(self.data, other.data)"),
    hint=["Wiggle only a: how much does a · b move? Is that a, or is it b?",
          "The order of the derivatives is the order of the parents: for self the number other.data."])
value_mul.mistake(
    "the rule of the sum is noted: 1 and 1", swap=("(other.data, self.data)", "(1.0, 1.0)"),
    hint=["Let b be 100. Wiggle a by 1: does the product move by 1?", "For a it is b, for b it is a."])
value_mul.mistake(
    "the product itself is noted as both local derivatives",
    swap=("(other.data, self.data)", "(self.data * other.data, self.data * other.data)"),
    hint=["The strip in the drawing: bit times which side?", "One side only: b for a, a for b."])
value_mul.mistake(
    "a · 2.5 is not thought of: the number has no `.data`", swap=("other = as_value(other)", "pass"),
    hint=["What is `other` in a * 2.5?", "First line: `other = as_value(other)`."])
value_mul.mistake(
    "b · 2 is not thought of: 2 is no `float`, but an `int`", swap=("other = as_value(other)", "other = Value(other) if isinstance(other, float) else other"),
    hint=["What is isinstance(2, float)?", "`as_value(other)` takes numbers of every kind."])
value_mul.mistake(
    "the boxes are noted as local derivatives, not their numbers", swap=("(other.data, self.data)", "(other, self)"),
    hint=["A local derivative is a number. What is `other`?", "`(other.data, self.data)`."])
value_mul.mistake(
    "`Value(self * other, …)` asks for the product of the two boxes, so `__mul__` calls itself without end",
    swap=("self.data * other.data", "self * other"),
    hint=["Whom does Python ask at self * other?", "Multiply the numbers: `self.data * other.data`."])
value_mul.mistake(
    "the product is divided by each factor, and a factor may be 0", swap=("(other.data, self.data)",
                                                                         "(self.data * other.data / self.data, self.data * other.data / other.data)"),
    hint=["What is 0 / 0?", "Product over a is b: take b itself, `other.data`."])
value_mul.mistake(
    "a is changed: `self.data *=` writes the product into it, too", source='''
@add_to_class(Value)
def __mul__(self, other):
    other = as_value(other)
    local_derivatives = (other.data, self.data)
    self.data *= other.data
    return Value(self.data, (self, other), local_derivatives, "*")
''', hint=["What is in a after a * b?", "`self.data * other.data`, without `=`."])
value_mul.mistake(
    "only the left factor is noted as a parent", swap=("(self, other), (other.data, self.data)", "(self,), (other.data,)"),
    hint=["b moves the product, too. Does the product know b?", "Two parents, two local derivatives."])
value_mul.mistake(
    "only the right factor gets a gradient: the left one counts as a constant",
    swap=("(other.data, self.data)", "(0.0, self.data)"),
    hint=["If only a moves, does a · b stand still?", "The local derivative for self is other.data."])
value_mul.mistake(
    "the product knows no parents: the graph is cut here", swap=(', (self, other), (other.data, self.data), "*"', ""),
    hint=["The number is right, but where does it say what it was computed from?",
          "`Value(number, parents, local_derivatives, op)`: give it all four."])
value_mul.mistake(
    "the number is still the sum: copied from `__add__`", swap=("self.data * other.data, (", "self.data + other.data, ("),
    hint=["Look at the first thing you give to Value(…).", "`self.data * other.data`."])
value_mul.mistake(
    "`grad =` overwrites in the closure: of a · a only one path is left", source='''
@add_to_class(Value)
def __mul__(self, other):
    other = as_value(other)
    out = Value(self.data * other.data, (self, other), op="*")

    def _backward():
        self.grad = other.data * out.grad
        other.grad = self.data * out.grad
    out._backward = _backward
    return out
''', hint=["In a · a the same box is reached twice. What does the second `=` do to the first?", "`+=`: over paths we add."])
value_mul.mistake(
    "the closure forgets the gradient that arrives", source='''
@add_to_class(Value)
def __mul__(self, other):
    other = as_value(other)
    out = Value(self.data * other.data, (self, other), op="*")

    def _backward():
        self.grad += other.data
        other.grad += self.data
    out._backward = _backward
    return out
''', hint=["Along a path we multiply. What came down the path so far?", "Local derivative times `out.grad`."])
value_mul.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_mul.variant("parents the other way round", source='''
@add_to_class(Value)
def __mul__(self, other):
    other = other if isinstance(other, Value) else Value(other)
    return Value(other.data * self.data, [other, self], [self.data, other.data], op="·")
''')
value_mul.variant("a square is one edge, a number is no parent", source='''
@add_to_class(Value)
def __mul__(self, other):
    if other is self:
        return Value(self.data ** 2, (self,), (2 * self.data,), "*")
    if not isinstance(other, Value):
        return Value(self.data * other, (self,), (other,), "*")
    return Value(self.data * other.data, (self, other), (other.data, self.data), "*")
''')


# -- 4 · the power ------------------------------------------------------------------------------------------------------

@check("value.pow", points=3, device=("a ** 3, a.grad", "c ** n, c.grad", "c ** n, n.grad"))
def value_pow(student, rng, tools):
    """The power: with a number as exponent, with a Value as exponent, with a base of 0."""
    x, y, n, up = -rng.uniform(1.2, 1.9), rng.uniform(2.1, 2.9), -rng.uniform(0.6, 0.9), -rng.uniform(1.5, 2.5)
    small = rng.uniform(0.1, 0.4)

    def near_zero(quantity):
        base, exponent = tools.leaves(student, base=small, n=n)
        out = base ** exponent
        tools.backpropagate(out, upstream=up)
        return {"base": base.grad, "n": exponent.grad}[quantity]

    def run(f):
        a, c, exponent, zero = tools.leaves(student, a=x, c=y, n=n, zero=0.0)
        out = f(a, c, exponent, zero)
        after = [a.data, c.data, exponent.data]
        tools.backpropagate(out, upstream=up)
        return {"value": out.data, "a": a.grad, "c": c.grad, "n": exponent.grad, "zero": zero.grad, "after": after}

    def refuses(f):
        try:
            run(f)
        except (ValueError, ArithmeticError):
            return True
        return False

    return {
        "input": f"a = {x:.4g}, c = {y:.4g}, n = Value({n:.4g}); the gradient that arrives at the result is {up:.4g}",
        "a ** 3": lambda: run(lambda a, c, n, zero: a ** 3)["value"],
        "a ** 3, a.grad": lambda: run(lambda a, c, n, zero: a ** 3)["a"],
        "a ** 2.0, a.grad": lambda: run(lambda a, c, n, zero: a ** 2.0)["a"],
        "a ** -2": lambda: run(lambda a, c, n, zero: a ** -2)["value"],
        "a ** -2, a.grad": lambda: run(lambda a, c, n, zero: a ** -2)["a"],
        "c ** 0.5, c.grad": lambda: run(lambda a, c, n, zero: c ** 0.5)["c"],
        "0 ** 2, gradient": lambda: run(lambda a, c, n, zero: zero ** 2)["zero"],
        "c ** n": lambda: run(lambda a, c, n, zero: c ** n)["value"],
        "c ** n, c.grad": lambda: run(lambda a, c, n, zero: c ** n)["c"],
        "c ** n, n.grad": lambda: run(lambda a, c, n, zero: c ** n)["n"],
        "c ** c, c.grad": lambda: run(lambda a, c, n, zero: c ** c)["c"],
        "a base between 0 and 1, its gradient": lambda: near_zero("base"),
        "a base between 0 and 1, n.grad": lambda: near_zero("n"),
        "a after a ** 3": lambda: run(lambda a, c, n, zero: a ** 3)["after"][0],
        "c and n after c ** n": lambda: run(lambda a, c, n, zero: c ** n)["after"][1:],
        "a ** n is refused, since a is negative": lambda: refuses(lambda a, c, n, zero: a ** n),
        "a ** Value(3) is refused, since a is negative": lambda: refuses(lambda a, c, n, zero: a ** student.Value(3.0)),
        "0 ** Value(3) is refused": lambda: refuses(lambda a, c, n, zero: zero ** student.Value(3.0)),
        "0 ** n is refused": lambda: refuses(lambda a, c, n, zero: zero ** n),
    }


value_pow.mistake(
    "the exponent comes down but does not go down: n · aⁿ", swap=("(slope,)", "(exponent * power,)"),
    hint=["The slope of a³ is 3a². What is yours?", "`power_and_slope` gives you both numbers: use the second."])
value_pow.mistake(
    "the exponent goes down but does not come down: aⁿ⁻¹", swap=("(slope,)", "(slope / exponent,)"),
    hint=["The slope of a³ is 3a². What is yours?", "n · aⁿ⁻¹: the factor n is missing."])
value_pow.mistake(
    "`(slope)` has no comma, so it is no tuple", swap=("(slope,)", "(slope)"),
    hint=["What does Python say to type((2.0))?", "`(slope,)`."])
value_pow.mistake(
    "an exponent that is a Value gets no gradient", swap=("(self, exponent), (slope, power * math.log(self.data))", "(self,), (slope,)"),
    hint=["If n is a Value, it moves the result, too.", "Two parents then: `(self, exponent)`, and aⁿ · ln a is the second derivative."])
value_pow.mistake(
    "an exponent that is a Value is not thought of", source='''
@add_to_class(Value)
def __pow__(self, exponent):
    power, slope = power_and_slope(self.data, exponent)
    return Value(power, (self,), (slope,), "**")
''', hint=["The docstring has a second case.", "`if not isinstance(exponent, Value):` is the first, below it comes the second, with two parents."])
value_pow.mistake(
    "the derivative for the exponent lacks ln a", swap=("power * math.log(self.data)", "power"),
    hint=["Only e is a base whose power is its own slope.", "For the base a: aⁿ · ln a."])
value_pow.mistake(
    "the logarithm is taken of the exponent, not of the base", swap=("power * math.log(self.data)", "power * math.log(exponent.data)"),
    hint=["In eⁿ·ˡⁿᵃ, what stands beside n?", "`math.log(self.data)`."])
value_pow.mistake(
    "the derivative for the exponent takes the slope in place of the power", swap=("power * math.log(self.data)", "slope * math.log(self.data)"),
    hint=["aⁿ · ln a: is your first factor aⁿ?", "`power`, the first of the two numbers."])
value_pow.mistake(
    "a power with a plain number goes through the logarithm, so a negative base or a base of 0 fails", source='''
@add_to_class(Value)
def __pow__(self, exponent):
    if not isinstance(exponent, Value):
        power = math.exp(exponent * math.log(self.data))
        return Value(power, (self,), (exponent * power / self.data,), "**")
    power = math.exp(exponent.data * math.log(self.data))
    return Value(power, (self, exponent), (exponent.data * power / self.data, power * math.log(self.data)), "**")
''', hint=["(−2)³ is −8. What does the logarithm of −2 say to that?", "For a plain number as exponent use `power_and_slope`."])
value_pow.mistake(
    "the slope is taken as n · aⁿ / a, so 0 ** 2 divides by 0", swap=("(slope,)", "(exponent * power / self.data,)"),
    hint=["For a = 0 the slope of a² is 0. What does your formula do there?", "`power_and_slope` gives you both numbers: use the second."])
value_pow.mistake(
    "only an `int` counts as a plain number, so a ** 2.0 goes the way of a Value", source='''
@add_to_class(Value)
def __pow__(self, exponent):
    if isinstance(exponent, int):
        power, slope = power_and_slope(self.data, exponent)
        return Value(power, (self,), (slope,), "**")
    exponent = as_value(exponent)
    power, slope = power_and_slope(self.data, exponent.data)
    return Value(power, (self, exponent), (slope, power * math.log(self.data)), "**")
''', hint=["What is isinstance(2.0, int)?", "Ask the other way round: `if not isinstance(exponent, Value):`."])
value_pow.mistake(
    "the logarithm is taken of |a|, so a negative base passes unnoticed",
    swap=[("self.data <= 0", "self.data == 0"), ("math.log(self.data)", "math.log(abs(self.data))")],
    hint=["(−2)ⁿ is no real number for most n. Is there a slope along n?", "ValueError unless a > 0."])
value_pow.mistake(
    "for a base that is not above 0 the exponent gets a gradient of 0, and no error", source='''
@add_to_class(Value)
def __pow__(self, exponent):
    if not isinstance(exponent, Value):
        power, slope = power_and_slope(self.data, exponent)
        return Value(power, (self,), (slope,), "**")
    power, slope = power_and_slope(self.data, exponent.data)
    return Value(power, (self, exponent), (slope, power * math.log(self.data) if self.data > 0 else 0.0), "**")
''', hint=["A wrong number that looks right costs more time than an error.", "ValueError unless a > 0."])
value_pow.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_pow.variant("the rule written out, Value first", source='''
@add_to_class(Value)
def __pow__(self, n):
    if isinstance(n, Value):
        if self.data <= 0:
            raise ValueError("the base must be above 0")
        p = self.data ** n.data
        return Value(p, [self, n], [n.data * self.data ** (n.data - 1), p * math.log(self.data)], "pow")
    return Value(self.data ** n, [self], [n * self.data ** (n - 1)], f"**{n}")
''')
value_pow.variant("both cases collected in lists", source='''
@add_to_class(Value)
def __pow__(self, exponent):
    n = exponent.data if isinstance(exponent, Value) else exponent
    power, slope = power_and_slope(self.data, n)
    parents, slopes = [self], [slope]
    if isinstance(exponent, Value):
        parents.append(exponent)
        slopes.append(power * math.log(self.data))
    return Value(power, parents, slopes, "**")
''')
value_pow.variant("no guard: math.log refuses the same", swap=("self.data <= 0", "False"))
value_pow.variant("the guard lets 0 pass: math.log refuses it", swap=("self.data <= 0", "self.data < 0"))
value_pow.variant("the guard begins at −1: math.log refuses the rest", swap=("self.data <= 0", "self.data <= -1"))


# -- 5 · the derived operations -----------------------------------------------------------------------------------------

@check("value.derived", points=3, needs=("value.add", "value.mul", "value.pow"),
       device=("a − b, b.grad", "a / b, a.grad", "a / b, b.grad", "2.5 / b, b.grad", "2.5 ** b, b.grad"))
def value_derived(student, rng, tools):
    """Minus, divided by, and a number on the left."""
    x, y, up = rng.uniform(1.2, 1.9), -rng.uniform(0.3, 0.8), -rng.uniform(1.5, 2.5)

    def run(f):
        a, b = tools.leaves(student, a=x, b=y)
        out = f(a, b)
        after = [a.data, b.data, a.grad, b.grad]
        tools.backpropagate(out, upstream=up)
        return {"value": out.data, "a": a.grad, "b": b.grad, "after": after}

    return {
        "input": f"a = {x:.4g}, b = {y:.4g}; the gradient that arrives at the result is {up:.4g}",
        "−a": lambda: run(lambda a, b: -a)["value"],
        "−a, a.grad": lambda: run(lambda a, b: -a)["a"],
        "a − b": lambda: run(lambda a, b: a - b)["value"],
        "a − b, a.grad": lambda: run(lambda a, b: a - b)["a"],
        "a − b, b.grad": lambda: run(lambda a, b: a - b)["b"],
        "a − 2.5": lambda: run(lambda a, b: a - 2.5)["value"],
        "a − 2.5, a.grad": lambda: run(lambda a, b: a - 2.5)["a"],
        "a − a, a.grad": lambda: run(lambda a, b: a - a)["a"],
        "a / b": lambda: run(lambda a, b: a / b)["value"],
        "a / b, a.grad": lambda: run(lambda a, b: a / b)["a"],
        "a / b, b.grad": lambda: run(lambda a, b: a / b)["b"],
        "a / 2.5": lambda: run(lambda a, b: a / 2.5)["value"],
        "a / 2.5, a.grad": lambda: run(lambda a, b: a / 2.5)["a"],
        "a / a, a.grad": lambda: run(lambda a, b: a / a)["a"],
        "2.5 + b": lambda: run(lambda a, b: 2.5 + b)["value"],
        "2.5 + b, b.grad": lambda: run(lambda a, b: 2.5 + b)["b"],
        "2.5 − b": lambda: run(lambda a, b: 2.5 - b)["value"],
        "2.5 − b, b.grad": lambda: run(lambda a, b: 2.5 - b)["b"],
        "2.5 · b": lambda: run(lambda a, b: 2.5 * b)["value"],
        "2.5 · b, b.grad": lambda: run(lambda a, b: 2.5 * b)["b"],
        "2.5 / b": lambda: run(lambda a, b: 2.5 / b)["value"],
        "2.5 / b, b.grad": lambda: run(lambda a, b: 2.5 / b)["b"],
        "2.5 ** b": lambda: run(lambda a, b: 2.5 ** b)["value"],
        "2.5 ** b, b.grad": lambda: run(lambda a, b: 2.5 ** b)["b"],
        "sum([a, b, a]), a.grad": lambda: run(lambda a, b: sum([a, b, a]))["a"],
        "a and b afterwards: data of both, grad of both": lambda: run(lambda a, b: -a - b + b / a + 2 / b)["after"],
    }


value_derived.mistake(
    "`__rsub__` computes self − other: the number stood on the left", swap=("as_value(other) - self", "self - as_value(other)"),
    hint=["At 5 − a Python calls a.__rsub__(5). Which of the two is self?", "other − self, with `as_value(other)`."])
value_derived.mistake(
    "`__rtruediv__` computes self / other: the number stood on the left", swap=("as_value(other) / self", "self / as_value(other)"),
    hint=["At 5 / a Python calls a.__rtruediv__(5). Which of the two is self?", "other / self, with `as_value(other)`."])
value_derived.mistake(
    "`__rpow__` computes self ** other: the number stood on the left", swap=("as_value(other) ** self", "self ** other"),
    hint=["At 2 ** a Python calls a.__rpow__(2). Which of the two is the base?", "`as_value(other) ** self`."])
value_derived.mistake(
    "`__radd__` calls itself without end", swap=("as_value(other) + self", "other + self"),
    hint=["Inside, `other` is still a plain number. Whom does Python ask at number + Value?",
          "`as_value(other) + self`, or `self + other`."])
value_derived.mistake(
    "`__rmul__` calls itself without end", swap=("as_value(other) * self", "other * self"),
    hint=["Inside, `other` is still a plain number. Whom does Python ask at number * Value?",
          "`as_value(other) * self`, or `self * other`."])
value_derived.mistake(
    "`__rsub__` calls itself without end", swap=("as_value(other) - self", "other - self"),
    hint=["Inside, `other` is still a plain number. Whom does Python ask at number − Value?", "`as_value(other) - self`."])
value_derived.mistake(
    "`__rtruediv__` calls itself without end", swap=("as_value(other) / self", "other / self"),
    hint=["Inside, `other` is still a plain number. Whom does Python ask at number / Value?", "`as_value(other) / self`."])
value_derived.mistake(
    "−a asks for 0 − a, 0 − a asks for −a, and so on without end", swap=("self * -1.0", "0 - self"),
    hint=["Follow it: which method answers 0 − self, and what does that one ask for?", "−a is a · (−1): `self * -1.0`."])
value_derived.mistake(
    "`__radd__` knows only a `float` on the left, and sum(…) begins with the whole number 0",
    swap=("as_value(other) + self", "(Value(other) if isinstance(other, float) else other) + self"),
    hint=["sum([a, b]) is 0 + a + b. Who adds 0 and a?", "`as_value(other) + self` takes numbers of every kind."])
value_derived.mistake(
    "a − 2.5 is a new leaf: the graph is cut where a number is subtracted", swap=(
        "self + -as_value(other)", "self + -other if isinstance(other, Value) else Value(self.data - other)"),
    hint=["The number is right. Does a − 2.5 know that it came from a?", "One line serves both: `self + -as_value(other)`."])
value_derived.mistake(
    "a − b is computed as b − a", swap=("self + -as_value(other)", "as_value(other) + -self"),
    hint=["Which of the two gets the minus?", "self + (−other)."])
value_derived.mistake(
    "`__sub__` adds: the minus is lost", swap=("self + -as_value(other)", "self + as_value(other)"),
    hint=["Try it with 5 − 3.", "self + (−other)."])
value_derived.mistake(
    "a − b hands b its gradient without the minus", swap=("return self + -as_value(other)", '''other = as_value(other)
    return Value(self.data - other.data, (self, other), (1.0, 1.0), "-")'''),
    hint=["If b goes up, where does a − b go?", "The local derivatives are 1 and −1; or let + and − do it: self + (−other)."])
value_derived.mistake(
    "−a is a new leaf: the graph is cut here", swap=("self * -1.0", "Value(-self.data)"),
    hint=["The number is right. Does −a know that it came from a?", "`self * -1.0`: the product knows its parents."])
value_derived.mistake(
    "a / b multiplies: the exponent −1 is missing", swap=("self * as_value(other) ** -1", "self * as_value(other)"),
    hint=["Try it with 6 / 2.", "a / b = a · b⁻¹."])
value_derived.mistake(
    "the minus is missing in the derivative of a / b for b", swap=("return self * as_value(other) ** -1", '''other = as_value(other)
    return Value(self.data / other.data, (self, other), (1 / other.data, self.data / other.data ** 2), "/")'''),
    hint=["If b grows, a / b shrinks.", "∂(a / b)/∂b = −a / b²; or let the product and the power do it."])
value_derived.mistake(
    "`2.5 ** a` uses only a's number: the graph is cut here", swap=("as_value(other) ** self", "as_value(other) ** self.data"),
    hint=["a is the exponent, and it moves the result. Does the result know it?", "`as_value(other) ** self`."])
value_derived.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_derived.variant("sums and products turned round", source='''
@add_to_class(Value)
def __neg__(self):
    return -1 * self

@add_to_class(Value)
def __sub__(self, other):
    return self + (-other)

@add_to_class(Value)
def __truediv__(self, other):
    return self * other ** -1

@add_to_class(Value)
def __radd__(self, other):
    return self + other

@add_to_class(Value)
def __rsub__(self, other):
    return -self + other

@add_to_class(Value)
def __rmul__(self, other):
    return self * other

@add_to_class(Value)
def __rtruediv__(self, other):
    return self ** -1 * other

@add_to_class(Value)
def __rpow__(self, other):
    return Value(other) ** self
''')
value_derived.variant("each with its own rule", source='''
@add_to_class(Value)
def __neg__(self):
    return Value(-self.data, [self], [-1], "neg")

@add_to_class(Value)
def __sub__(self, other):
    other = as_value(other)
    return Value(self.data - other.data, [self, other], [1, -1], "-")

@add_to_class(Value)
def __truediv__(self, other):
    other = as_value(other)
    return Value(self.data / other.data, [self, other], [1 / other.data, -self.data / other.data ** 2], "/")

@add_to_class(Value)
def __radd__(self, other):
    return Value(other + self.data, [self], [1], "+")

@add_to_class(Value)
def __rsub__(self, other):
    return Value(other - self.data, [self], [-1], "-")

@add_to_class(Value)
def __rmul__(self, other):
    return Value(other * self.data, [self], [other], "*")

@add_to_class(Value)
def __rtruediv__(self, other):
    return Value(other / self.data, [self], [-other / self.data ** 2], "/")

@add_to_class(Value)
def __rpow__(self, other):
    power = other ** self.data
    return Value(power, [self], [power * math.log(other)], "**")
''')
value_derived.variant("−a by dividing", swap=("self * -1.0", "self / -1.0"))
value_derived.variant("the sum takes plain numbers itself", swap=("-as_value(other)", "-other"))
value_derived.variant("a plain number has a power of its own", swap=("as_value(other) ** -1", "other ** -1"))


# -- 6 · exp and log ----------------------------------------------------------------------------------------------------

@check("value.exp_log", points=2, device=("exp(a), a.grad", "exp(b), b.grad", "log(a), a.grad"))
def value_exp_log(student, rng, tools):
    """The exponential and the logarithm, alone and one in the other."""
    x, y, up = rng.uniform(1.2, 1.9), -rng.uniform(0.3, 0.8), -rng.uniform(1.5, 2.5)
    small = rng.uniform(0.1, 0.4)

    def run(f):
        a, b = tools.leaves(student, a=x, b=y)
        out = f(a, b)
        after = [a.data, b.data, a.grad, b.grad]
        tools.backpropagate(out, upstream=up)
        return {"value": out.data, "a": a.grad, "b": b.grad, "after": after}

    def alone(name, number):
        c = tools.leaves(student, c=number)
        out = getattr(c, name)()
        tools.backpropagate(out, upstream=up)
        return [out.data, c.grad]

    def refuses(number):
        try:
            student.Value(number).log()
        except ValueError:
            return True
        return False

    return {
        "input": f"a = {x:.4g}, b = {y:.4g}; the gradient that arrives at the result is {up:.4g}",
        "exp(a)": lambda: run(lambda a, b: a.exp())["value"],
        "exp(a), a.grad": lambda: run(lambda a, b: a.exp())["a"],
        "exp(b)": lambda: run(lambda a, b: b.exp())["value"],
        "exp(b), b.grad": lambda: run(lambda a, b: b.exp())["b"],
        "exp(exp(b)), b.grad": lambda: run(lambda a, b: b.exp().exp())["b"],
        "log(a)": lambda: run(lambda a, b: a.log())["value"],
        "log(a), a.grad": lambda: run(lambda a, b: a.log())["a"],
        "log(exp(b)), b.grad": lambda: run(lambda a, b: b.exp().log())["b"],
        "exp(30), value and gradient": lambda: alone("exp", 30.0),
        "log near 0, value and gradient": lambda: alone("log", small),
        "log(0.0001), value and gradient": lambda: alone("log", 0.0001),
        "a and b afterwards: data of both, grad of both": lambda: run(lambda a, b: a.log() + b.exp())["after"],
        "ValueError for log(b), since b is negative": lambda: refuses(y),
        "ValueError for log(0)": lambda: refuses(0.0),
    }


value_exp_log.mistake(
    "exp is treated as a power: n · aⁿ⁻¹", swap=("(result,)", "(self.data * math.exp(self.data - 1),)"),
    hint=["In eᵃ the variable stands in the exponent, not in the base.", "∂eᵃ/∂a = eᵃ, the result itself."])
value_exp_log.mistake(
    "exp keeps a as its local derivative, not the result", swap=("(result,)", "(self.data,)"),
    hint=["exp is its own slope: which number is that?", "The local derivative is `result`."])
value_exp_log.mistake(
    "exp has the local derivative 1", swap=("(result,)", "(1.0,)"),
    hint=["Is eᵃ as steep at 3 as at 0?", "The local derivative is `result`."])
value_exp_log.mistake(
    "the slope of exp is taken at the result, not at a", swap=("(result,)", "(math.exp(result),)"),
    hint=["exp is applied once too often.", "The local derivative is `result` as it is."])
value_exp_log.mistake(
    "log keeps 1 / ln a as its local derivative", swap=("1.0 / self.data", "1.0 / math.log(self.data)"),
    hint=["One over what: the result or the input?", "1 / a."])
value_exp_log.mistake(
    "log keeps a, not 1 / a", swap=("1.0 / self.data", "self.data"),
    hint=["Is the logarithm steeper at 10 than at 1?", "1 / a."])
value_exp_log.mistake(
    "the logarithm has the base 10", swap=("Value(math.log(self.data)", "Value(math.log10(self.data)"),
    hint=["Which logarithm has the slope 1 / a?", "math.log, to the base e."])
value_exp_log.mistake(
    "log swallows numbers that have no logarithm", source='''
@add_to_class(Value)
def exp(self):
    result = math.exp(self.data)
    return Value(result, (self,), (result,), "exp")

@add_to_class(Value)
def log(self):
    safe = max(abs(self.data), 1e-12)
    return Value(math.log(safe), (self,), (1.0 / safe,), "log")
''', hint=["A wrong number that looks right costs more time than an error.", "ValueError unless a > 0: math.log says it by itself."])
value_exp_log.mistake(
    "exp and log know no parents: the graph is cut here", source='''
@add_to_class(Value)
def exp(self):
    return Value(math.exp(self.data))

@add_to_class(Value)
def log(self):
    return Value(math.log(self.data))
''', hint=["The numbers are right. Do they know what they came from?", "One parent, `(self,)`, and one local derivative."])
value_exp_log.mistake(
    "the closures forget the gradient that arrives", source='''
@add_to_class(Value)
def exp(self):
    out = Value(math.exp(self.data), (self,), op="exp")

    def _backward():
        self.grad += out.data
    out._backward = _backward
    return out

@add_to_class(Value)
def log(self):
    out = Value(math.log(self.data), (self,), op="log")

    def _backward():
        self.grad += 1 / self.data
    out._backward = _backward
    return out
''', hint=["Along a path we multiply. What came down the path so far?", "Local derivative times `out.grad`."])
value_exp_log.mistake(
    "`(self)` has no comma, so it is no tuple", swap=("(self,)", "(self)"),
    hint=["What does Python say to type((2.0))?", "`(self,)`."])
value_exp_log.mistake(
    "log adds a small number to a, to be safe from 0", source='''
@add_to_class(Value)
def exp(self):
    result = math.exp(self.data)
    return Value(result, (self,), (result,), "exp")

@add_to_class(Value)
def log(self):
    if self.data <= 0:
        raise ValueError("no logarithm")
    return Value(math.log(self.data + 1e-8), (self,), (1.0 / (self.data + 1e-8),), "log")
''', hint=["Near 0 the logarithm is steep. What does your small number do to ln 0.0001?", "`math.log(self.data)`; at 0 an error is wanted."])
value_exp_log.mistake(
    "exp holds its input below a bound, to be safe from large numbers", swap=("math.exp(self.data)", "math.exp(min(self.data, 20.0))"),
    hint=["What comes out for a = 30?", "`math.exp(self.data)`; where no float is large enough, Python says so."])
value_exp_log.mistake(
    "a is changed: the result is written into it, too", swap=[("result = math.exp(self.data)", "self.data = result = math.exp(self.data)"),
                                                            ("return Value(math.log(self.data), (self,), (1.0 / self.data,)",
                                                             "slope, self.data = 1.0 / self.data, math.log(self.data)\n    return Value(self.data, (self,), (slope,)")],
    hint=["What is in a after a.exp()?", "Give the result a name of its own; leave `self.data` as it is."])
value_exp_log.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_exp_log.variant("NumPy's functions", source='''
import numpy as np

@add_to_class(Value)
def exp(self):
    e = np.exp(self.data)
    return Value(e, [self], [e], "exp")

@add_to_class(Value)
def log(self):
    if not self.data > 0:
        raise ValueError("no logarithm")
    return Value(np.log(self.data), [self], [np.divide(1, self.data)], "log")
''')
value_exp_log.variant("e to the power, from other operations", source='''
@add_to_class(Value)
def exp(self):
    return math.e ** self

@add_to_class(Value)
def log(self):
    return Value(math.log(self.data), (self,), (self.data ** -1,), "ln")
''')
value_exp_log.variant("no guard: math.log refuses the same", swap=("self.data <= 0", "False"))
value_exp_log.variant("the guard lets 0 pass: math.log refuses it", swap=("self.data <= 0", "self.data < 0"))
value_exp_log.variant("the guard begins at −1: math.log refuses the rest", swap=("self.data <= 0", "self.data <= -1"))


# -- 7 · tanh and sigmoid -----------------------------------------------------------------------------------------------

@check("value.tanh_sigmoid", points=3,
       device=("tanh(a), a.grad", "tanh(b), b.grad", "sigmoid(a), a.grad", "sigmoid(b), b.grad"))
def value_tanh_sigmoid(student, rng, tools):
    """Two S-shaped curves, on both sides of 0, near it and far out."""
    x, y, up = rng.uniform(1.2, 1.9), -rng.uniform(0.3, 0.8), -rng.uniform(1.5, 2.5)
    small = rng.uniform(0.05, 0.4)

    def run(f):
        a, b = tools.leaves(student, a=x, b=y)
        out = f(a, b)
        after = [a.data, b.data, a.grad, b.grad]
        tools.backpropagate(out, upstream=up)
        return {"value": out.data, "a": a.grad, "b": b.grad, "after": after}

    def alone(number, name="sigmoid"):
        a = tools.leaves(student, a=number)
        out = getattr(a, name)()
        tools.backpropagate(out, upstream=up)
        return [out.data, a.grad]

    return {
        "input": f"a = {x:.4g}, b = {y:.4g}; the gradient that arrives at the result is {up:.4g}",
        "tanh(a)": lambda: run(lambda a, b: a.tanh())["value"],
        "tanh(a), a.grad": lambda: run(lambda a, b: a.tanh())["a"],
        "tanh(b)": lambda: run(lambda a, b: b.tanh())["value"],
        "tanh(b), b.grad": lambda: run(lambda a, b: b.tanh())["b"],
        "tanh(tanh(a)), a.grad": lambda: run(lambda a, b: a.tanh().tanh())["a"],
        "sigmoid(a)": lambda: run(lambda a, b: a.sigmoid())["value"],
        "sigmoid(a), a.grad": lambda: run(lambda a, b: a.sigmoid())["a"],
        "sigmoid(b)": lambda: run(lambda a, b: b.sigmoid())["value"],
        "sigmoid(b), b.grad": lambda: run(lambda a, b: b.sigmoid())["b"],
        "sigmoid near 0, value and gradient": lambda: alone(small),
        "tanh near 0, value and gradient": lambda: alone(small, "tanh"),
        "sigmoid(0), value and gradient": lambda: alone(0.0),
        "tanh(0), value and gradient": lambda: alone(0.0, "tanh"),
        "sigmoid(−6), value and gradient": lambda: alone(-6.0),
        "tanh(3), value and gradient": lambda: alone(3.0, "tanh"),
        "a and b afterwards: data of both, grad of both": lambda: run(lambda a, b: a.tanh() + b.sigmoid())["after"],
        "sigmoid(1000), value and gradient": lambda: alone(1000.0),
        "sigmoid(−1000), value and gradient": lambda: alone(-1000.0),
    }


value_tanh_sigmoid.mistake(
    "tanh's derivative is 1 − t, the square is missing", swap=("1.0 - t * t", "1.0 - t"),
    hint=["tanh is as steep at −a as at a. Is yours?", "1 − t²."])
value_tanh_sigmoid.mistake(
    "tanh's derivative is 1 − a², with the input in place of the result", swap=("1.0 - t * t", "1.0 - self.data * self.data"),
    hint=["Far out, tanh is flat: 0. What is 1 − a² for a = 5?", "1 − t², with t = tanh a."])
value_tanh_sigmoid.mistake(
    "tanh's derivative is 1 − tanh(t)²: tanh is applied twice", swap=("1.0 - t * t", "1.0 - math.tanh(t) ** 2"),
    hint=["t is tanh a already.", "1 − t², nothing more."])
value_tanh_sigmoid.mistake(
    "tanh's derivative is 1 + t²: the sign of the tangent's", swap=("1.0 - t * t", "1.0 + t * t"),
    hint=["Where is tanh steepest: at 0 or far out?", "1 − t². The plus belongs to tan."])
value_tanh_sigmoid.mistake(
    "tanh knows no parent: the graph is cut here", swap=('Value(t, (self,), (1.0 - t * t,), "tanh")', "Value(t)"),
    hint=["The number is right. Does it know what it came from?", "One parent, `(self,)`, and one local derivative."])
value_tanh_sigmoid.mistake(
    "sigmoid's derivative is a · (1 − a), with the input in place of the result", swap=("s * (1.0 - s)", "self.data * (1.0 - self.data)"),
    hint=["A slope of sigmoid is never negative. Yours?", "s · (1 − s), with the result s."])
value_tanh_sigmoid.mistake(
    "sigmoid got tanh's rule, 1 − s²", swap=("s * (1.0 - s)", "1.0 - s * s"),
    hint=["Far to the left, sigmoid is 0 and flat. What is 1 − 0²?", "s · (1 − s)."])
value_tanh_sigmoid.mistake(
    "sigmoid's derivative is s alone: (1 − s) is missing", swap=("s * (1.0 - s)", "s"),
    hint=["Far to the right sigmoid is 1 and flat.", "s · (1 − s)."])
value_tanh_sigmoid.mistake(
    "sigmoid has the wrong sign in the exponent, so it falls", swap=("1.0 if self.data >= 0 else small", "small if self.data >= 0 else 1.0"),
    hint=["sigmoid should go up from left to right.", "1 / (1 + e⁻ᵃ): the exponent is −a."])
value_tanh_sigmoid.mistake(
    "sigmoid asks for e¹⁰⁰⁰, and no float is that large", source='''
@add_to_class(Value)
def tanh(self):
    t = math.tanh(self.data)
    return Value(t, (self,), (1 - t ** 2,), "tanh")

@add_to_class(Value)
def sigmoid(self):
    s = 1 / (1 + math.exp(-self.data))
    return Value(s, (self,), (s * (1 - s),), "sigmoid")
''', hint=["The formula is right. Which exponent does it meet at a = −1000?",
           "For negative a: math.exp(a) / (1 + math.exp(a)), the same number, and nothing large in it."])
value_tanh_sigmoid.mistake(
    "the closures forget the gradient that arrives", source='''
@add_to_class(Value)
def tanh(self):
    out = Value(math.tanh(self.data), (self,), op="tanh")

    def _backward():
        self.grad += 1 - out.data ** 2
    out._backward = _backward
    return out

@add_to_class(Value)
def sigmoid(self):
    out = Value((1 + math.tanh(self.data / 2)) / 2, (self,), op="sigmoid")

    def _backward():
        self.grad += out.data * (1 - out.data)
    out._backward = _backward
    return out
''', hint=["Along a path we multiply. What came down the path so far?", "Local derivative times `out.grad`."])
value_tanh_sigmoid.mistake(
    "sigmoid has a case for a > 0 and one for a < 0, and none for 0", source='''
@add_to_class(Value)
def tanh(self):
    t = math.tanh(self.data)
    return Value(t, (self,), (1 - t ** 2,), "tanh")

@add_to_class(Value)
def sigmoid(self):
    if self.data > 0:
        s = 1 / (1 + math.exp(-self.data))
    if self.data < 0:
        s = math.exp(self.data) / (1 + math.exp(self.data))
    return Value(s, (self,), (s * (1 - s),), "sigmoid")
''', hint=["Which of your cases takes a = 0?", "`else` in place of the second condition."])
value_tanh_sigmoid.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_tanh_sigmoid.variant("made of exp and /", source='''
@add_to_class(Value)
def tanh(self):
    e = (2 * self).exp()
    return (e - 1) / (e + 1)

@add_to_class(Value)
def sigmoid(self):
    if self.data >= 0:
        return 1 / (1 + (-self).exp())
    return self.exp() / (1 + self.exp())
''')
value_tanh_sigmoid.variant("NumPy, where exp(1000) is inf", source='''
import numpy as np

@add_to_class(Value)
def tanh(self):
    t = np.tanh(self.data)
    return Value(t, [self], [1 - t ** 2], "tanh")

@add_to_class(Value)
def sigmoid(self):
    with np.errstate(over="ignore"):
        s = 1 / (1 + np.exp(-self.data))
    return Value(s, [self], [s * (1 - s)], "sigmoid")
''')
value_tanh_sigmoid.variant("sigmoid is a tanh", source='''
@add_to_class(Value)
def tanh(self):
    t = math.tanh(self.data)
    return Value(t, (self,), ((1 + t) * (1 - t),), "tanh")

@add_to_class(Value)
def sigmoid(self):
    return 0.5 + 0.5 * (0.5 * self).tanh()
''')
value_tanh_sigmoid.variant("at 0 both branches give 1", swap=("self.data >= 0", "self.data > 0"))


# -- 8 · relu -----------------------------------------------------------------------------------------------------------

@check("value.relu", points=2, device=("relu(a), a.grad", "relu(b), b.grad"))
def value_relu(student, rng, tools):
    """The rectifier: right of 0, left of 0, at 0."""
    x, y, up = rng.uniform(1.2, 1.9), -rng.uniform(0.3, 0.8), -rng.uniform(1.5, 2.5)
    small = rng.uniform(0.05, 0.4)

    def run(number, upstream, again=False):
        a = tools.leaves(student, a=number)
        out = a.relu().relu() if again else a.relu()
        after = a.data
        tools.backpropagate(out, upstream=upstream)
        return {"value": out.data, "grad": a.grad, "after": after}

    return {
        "input": f"a = {x:.4g}, b = {y:.4g}; the gradient that arrives at the result is {up:.4g}",
        "relu(a)": lambda: run(x, up)["value"],
        "relu(a), a.grad": lambda: run(x, up)["grad"],
        "relu(a), a.grad for a positive gradient": lambda: run(x, -up)["grad"],
        "relu(b)": lambda: run(y, up)["value"],
        "relu(b), b.grad": lambda: run(y, up)["grad"],
        "relu(relu(a)), a.grad": lambda: run(x, up, again=True)["grad"],
        "right of 0, but near it": lambda: [run(small, up)["value"], run(small, up)["grad"]],
        "far right of 0: relu(70), value and gradient": lambda: [run(70.0, up)["value"], run(70.0, up)["grad"]],
        "far left of 0: relu(−70), value and gradient": lambda: [run(-70.0, up)["value"], run(-70.0, up)["grad"]],
        "b after relu(b)": lambda: run(y, up)["after"],
        "relu(0)": lambda: run(0.0, up)["value"],
        "gradient at 0": lambda: run(0.0, up)["grad"],
    }


value_relu.mistake(
    "at 0 the gradient is let through", swap=("self.data > 0", "self.data >= 0"),
    hint=["At the kink a choice is needed; the docstring makes it.", "0 at 0: `>`, not `>=`."])
value_relu.mistake(
    "at 0 the mean of both slopes is taken", swap=("else 0.0,)", "else 0.5 * (self.data == 0),)"),
    hint=["That is what a central difference measures at a kink; the docstring makes another choice.", "0 at 0."])
value_relu.mistake(
    "the gradient is let through on both sides", swap=("(1.0 if self.data > 0 else 0.0,)", "(1.0,)"),
    hint=["Left of 0 the result does not move at all.", "The local derivative is 0 where a ≤ 0."])
value_relu.mistake(
    "the result is noted as local derivative, not its slope", swap=("1.0 if self.data > 0", "self.data if self.data > 0"),
    hint=["Wiggle a = 5 by a bit: does relu(a) move by 5 bits?", "1 where a > 0."])
value_relu.mistake(
    "the result is the mask, 0 or 1, not a", swap=("max(self.data, 0.0)", "self.data > 0"),
    hint=["relu(3) is 3.", "max(0, a)."])
value_relu.mistake(
    "left of 0 it leaks: a hundredth comes through", swap=[("max(self.data, 0.0)", "max(self.data, 0.01 * self.data)"),
                                                          ("else 0.0", "else 0.01")],
    hint=["That is a leaky ReLU: a good thing, but another one.", "0 where a ≤ 0, result and slope."])
value_relu.mistake(
    "it is the absolute value: left of 0 the sign is turned", source='''
@add_to_class(Value)
def relu(self):
    return Value(abs(self.data), (self,), (1.0 if self.data > 0 else -1.0 if self.data < 0 else 0.0,), "relu")
''', hint=["relu(−3) is 0.", "max(0, a)."])
value_relu.mistake(
    "a plain 0 is returned left of 0, not a Value", source='''
@add_to_class(Value)
def relu(self):
    if self.data <= 0:
        return 0.0
    return Value(self.data, (self,), (1.0,), "relu")
''', hint=["What is the type of relu(−3)?", "A `Value` on both sides."])
value_relu.mistake(
    "the sign of the gradient decides, not the sign of a", source='''
@add_to_class(Value)
def relu(self):
    out = Value(max(0.0, self.data), (self,), op="relu")

    def _backward():
        self.grad += max(0.0, out.grad)
    out._backward = _backward
    return out
''', hint=["Whether a nudge comes through depends on where a is.", "`(self.data > 0) * out.grad`."])
value_relu.mistake(
    "the closure forgets the gradient that arrives", source='''
@add_to_class(Value)
def relu(self):
    out = Value(max(0.0, self.data), (self,), op="relu")

    def _backward():
        self.grad += self.data > 0
    out._backward = _backward
    return out
''', hint=["Along a path we multiply. What came down the path so far?", "Local derivative times `out.grad`."])
value_relu.mistake(
    "the result is cut off at 6", swap=[("max(self.data, 0.0)", "min(max(self.data, 0.0), 6.0)"), ("if self.data > 0", "if 0 < self.data < 6")],
    hint=["That is ReLU6, which some networks for telephones use. What is relu(70)?", "max(0, a), with no upper end."])
value_relu.mistake(
    "a is changed: the result is written into it, too", swap=("return Value(max(self.data, 0.0)", "self.data = max(self.data, 0.0)\n    return Value(self.data"),
    hint=["What is in b after b.relu()?", "Leave `self.data` as it is; the result belongs into the new Value."])
value_relu.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_relu.variant("max, and a truth value as slope", source='''
@add_to_class(Value)
def relu(self):
    return Value(max(0, self.data), [self], [self.data > 0], "ReLU")
''')
value_relu.variant("itself, or a constant", source='''
@add_to_class(Value)
def relu(self):
    return self if self.data > 0 else Value(0)
''')
value_relu.variant("times a mask, so that −0.0 comes out", source='''
@add_to_class(Value)
def relu(self):
    return self * float(self.data > 0)
''')


# -- 9 · the order ------------------------------------------------------------------------------------------------------

@check("value.order", points=4)
def value_order(student, rng, tools):
    """Every box once, after all of its parents; also for many paths and for long chains."""
    def graph(parents, number=None):
        """Boxes 0, 1, 2, …; parents[i] lists the parents of box i, which come before it; the last is the root."""
        boxes = []
        for i, mine in enumerate(parents):
            boxes.append(student.Value(math.sin(i + 1) if number is None else number, [boxes[j] for j in mine], [1.0] * len(mine)))
        return boxes

    def listed(boxes):
        index = {id(box): i for i, box in enumerate(boxes)}
        return [index.get(id(box), -1) for box in student.topological_order(boxes[-1])]

    def counted(boxes):
        """How many boxes are listed, and how many edges go from a box to a parent that stands after it."""
        order, place = listed(boxes), {}
        for position, i in enumerate(order):
            place.setdefault(i, position)
        index = {id(box): i for i, box in enumerate(boxes)}
        edges = [(index[id(parent)], i) for i, box in enumerate(boxes) for parent in box.parents]
        return [len(order), sum(place[parent] > place[child] for parent, child in edges if parent in place and child in place)]

    def backwards(boxes):
        return counted(boxes)[1]

    def twice():
        boxes = graph(diamond)
        return [len(listed(boxes)), len(listed(boxes))]

    def doublings():
        boxes = graph([[]] + [[i, i] for i in range(60)])
        with tools.work_limit(20_000):
            return len(student.topological_order(boxes[-1]))

    def long_chain():
        return counted(graph([[]] + [[i] for i in range(10_500)]))  # longer than a recursion limit of 10,000 lets one go

    diamond = [[], [0], [0], [1, 2]]
    shortcuts = [[], [], [0, 1], [2, 0], [3, 2], [0, 4, 1], [4, 5]]
    tangle = [[] if i < 3 else [int(j) for j in rng.integers(0, i, size=rng.integers(1, 4))] for i in range(12)] + [[11, 10, 7]]
    return {
        "input": f"diamond, the parents of each box: {diamond}; shortcuts: {shortcuts}; tangle: {tangle}",
        "a leaf alone: the boxes": lambda: sorted(listed(graph([[]]))),
        "diamond: the boxes": lambda: sorted(listed(graph(diamond))),
        "diamond: edges the wrong way": lambda: backwards(graph(diamond)),
        "shortcuts: the boxes": lambda: sorted(listed(graph(shortcuts))),
        "shortcuts: edges the wrong way": lambda: backwards(graph(shortcuts)),
        "tangle: the boxes": lambda: sorted(listed(graph(tangle))),
        "tangle: edges the wrong way": lambda: backwards(graph(tangle)),
        "diamond of equal numbers: the boxes": lambda: sorted(listed(graph(diamond, 1.0))),
        "asked twice: how many boxes": twice,
        "60 doublings: how many boxes": doublings,
        "a chain of 10,501: boxes, edges the wrong way": long_chain,
    }


value_order.mistake(
    "visited boxes are not noted, so a box with two paths comes twice", swap=("visited.add(node)", "pass"),
    hint=["How often does the leaf of a diamond stand in your list?", "Keep a set of visited nodes, and skip what is in it."])
value_order.mistake(
    "the list is the wrong way round: the root first", swap=("return order", "return order[::-1]"),
    hint=["Parents come first, so where is the root?", "Drop the reversal; `backward` walks it from its end."])
value_order.mistake(
    "a box is appended before its parents", source='''
def topological_order(root):
    order, visited, stack = [], set(), [root]
    while stack:
        node = stack.pop()
        if node not in visited:
            visited.add(node)
            order.append(node)
            stack.extend(node.parents)
    return order
''', hint=["When may a box be appended? Look at the picture: s needs a and b.",
           "Put the box back on the stack, with its parents on top; append it when it comes up the second time."])
value_order.mistake(
    "the boxes are listed as they are met on the way down, then reversed", source='''
def topological_order(root):
    order, visited, stack = [], set(), [root]
    while stack:
        node = stack.pop()
        if node not in visited:
            visited.add(node)
            order.append(node)
            stack.extend(node.parents)
    return order[::-1]
''', hint=["Right for trees. With a shortcut, a parent may be met before one of its children is.",
           "Append a box only after all its parents are in the list; then nothing has to be reversed."])
value_order.mistake(
    "the boxes are sorted by their distance from the root", source='''
def topological_order(root):
    order, visited, queue = [root], {root}, [root]
    while queue:
        node = queue.pop(0)
        for parent in node.parents:
            if parent not in visited:
                visited.add(parent)
                order.append(parent)
                queue.append(parent)
    return order[::-1]
''', hint=["c = s · b with s = a + b: b is one step from c, and so is s. Who is first?",
           "The shortest way to the root says nothing; what counts is that all parents are done."])
value_order.mistake(
    "the root is not in the list", swap=("return order", "return order[:-1]"),
    hint=["`backward` starts at the root. Does it find it?", "root itself comes last."])
value_order.mistake(
    "the leaves are not in the list", swap=("return order", "return [node for node in order if node.parents]"),
    hint=["`zero_grad` and `size` need the leaves, too.", "Every box, those without parents included."])
value_order.mistake(
    "only the first parent is followed", swap=("*node.parents]", "*node.parents[:1]]"),
    hint=["How many parents has a product?", "Loop over all of node.parents."])
value_order.mistake(
    "it recurses, so a long chain ends in RecursionError", source='''
def topological_order(root):
    order, visited = [], set()

    def visit(node):
        if node not in visited:
            visited.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(root)
    return order
''', hint=["All is right but the depth: Python lets functions call each other some thousand times only; "
           "a higher limit is only a longer way to the same end.",
           "A list as your own stack, with pairs (node, are its parents done?): hint 2 below the exercise."])
value_order.mistake(
    "a box is marked as visited when it is put on the stack, so a shortcut comes too early", source='''
def topological_order(root):
    order, visited, stack = [], {root}, [(root, False)]
    while stack:
        node, parents_done = stack.pop()
        if parents_done:
            order.append(node)
        else:
            stack.append((node, True))
            for parent in node.parents:
                if parent not in visited:
                    visited.add(parent)
                    stack.append((parent, False))
    return order
''', hint=["A box waits on the stack, marked. Another box needs it first, finds it marked, and does not wait.",
           "Mark a box when it is taken from the stack, and skip it there if it is marked."])
value_order.mistake(
    "every path is walked again, although each box is listed once", source='''
def topological_order(root):
    order = []

    def visit(node):
        for parent in node.parents:
            visit(parent)
        if node not in order:
            order.append(node)

    visit(root)
    return order
''', hint=["20 doublings have a million paths. What is known at the second visit of a box?",
           "Look before you go down: if the box was visited, return at once."])
value_order.mistake(
    "boxes with the same number are taken for the same box", swap=[("node not in visited", "node.data not in visited"),
                                                                   ("visited.add(node)", "visited.add(node.data)")],
    hint=["Two boxes may hold the same number and still be two.", "Put the node itself into the set, not its data."])
value_order.mistake(
    "`visited` lives on between calls", source='''
def topological_order(root, visited=set()):
    order, stack = [], [(root, False)]
    while stack:
        node, parents_done = stack.pop()
        if parents_done:
            order.append(node)
        elif node not in visited:
            visited.add(node)
            stack.append((node, True))
            stack.extend((parent, False) for parent in node.parents)
    return order
''', hint=["What does the second call with the same root give?", "A default argument is made once: make the set inside the function."])
value_order.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_order.variant("by counting users (Kahn)", source='''
def topological_order(root):
    users, found, todo = {root: 0}, {root}, [root]
    while todo:
        for parent in todo.pop().parents:
            users[parent] = users.get(parent, 0) + 1
            if parent not in found:
                found.add(parent)
                todo.append(parent)
    order, free = [], [root]
    while free:
        node = free.pop()
        order.append(node)
        for parent in node.parents:
            users[parent] -= 1
            if users[parent] == 0:
                free.append(parent)
    return order[::-1]
''')
value_order.variant("a stack of iterators, the result a tuple", source='''
def topological_order(root):
    order, visited, stack = [], {id(root)}, [(root, iter(root.parents))]
    while stack:
        node, parents = stack[-1]
        for parent in parents:
            if id(parent) not in visited:
                visited.add(id(parent))
                stack.append((parent, iter(parent.parents)))
                break
        else:
            order.append(node)
            stack.pop()
    return tuple(order)
''')
value_order.variant("sorted by depth, with lists in place of sets", source='''
def topological_order(root):
    depth, stack = {}, [root]
    while stack:
        node = stack[-1]
        missing = [parent for parent in node.parents if parent not in depth]
        if missing:
            stack.extend(missing)
        else:
            depth[node] = 1 + max([depth[parent] for parent in node.parents], default=0)
            stack.pop()
    return sorted(depth, key=depth.get)
''')
value_order.variant("membership tested in the list itself", source='''
def topological_order(root):
    order, stack = [], [root]
    while stack:
        node = stack[-1]
        missing = [parent for parent in node.parents if parent not in order]
        if missing:
            stack.append(missing[0])
        else:
            stack.pop()
            if node not in order:
                order.append(node)
    return order
''')
value_order.variant("looked up in the order: slower, not wrong", swap=("node not in visited", "node not in order"))


# -- 10 · backward ------------------------------------------------------------------------------------------------------

@check("value.backward", points=4, needs=("value.add", "value.mul", "value.pow", "value.order"),
       device=("c = (a + b)·b: a.grad", "c = (a + b)·b: b.grad", "e = d·b + d·d with d = a·a: a.grad",
               "six times h + b·h: b.grad"))
def value_backward(student, rng, tools):
    """Gradients over all paths, over several calls, and after zero_grad."""
    x, y = rng.uniform(1.2, 1.9), -rng.uniform(0.3, 0.8)

    def first():
        a, b = tools.leaves(student, a=x, b=y)
        s = a + b
        c = s * b
        c.backward()
        return {"a": a, "b": b, "s": s, "c": c}

    def diamond():
        a, b = tools.leaves(student, a=x, b=y)
        d = a * a
        e = d * b + d * d
        e.backward()
        return {"a": a, "b": b, "d": d}

    def ladder():
        a, b = tools.leaves(student, a=x, b=y)
        h = a
        for _ in range(3):
            h = h + b * h
            h = b * h + h
        h.backward()
        return {"a": a, "b": b}

    def called_again():
        boxes = first()
        boxes["c"].backward()
        return boxes

    def two_results():
        a, b = tools.leaves(student, a=x, b=y)
        s = a * b
        u, v = s * a, s + b
        u.backward()
        v.backward()
        return {"a": a, "b": b, "s": s}

    def cleared():
        boxes = called_again()
        boxes["c"].zero_grad()
        return boxes

    def cleared_and_called():
        boxes = cleared()
        boxes["c"].backward()
        return boxes

    def leaf_alone():
        a = tools.leaves(student, a=x)
        a.backward()
        return a.grad

    def both_arms():
        a = tools.leaves(student, a=x)
        (a ** a).backward()
        return a.grad

    def zeros():
        p, q = tools.leaves(student, p=0.0, q=0.0)
        (p * q + p).backward()
        return [p.grad, q.grad]

    def long_chain():
        a, b = tools.leaves(student, a=x, b=y)
        h = a
        for _ in range(10_500):
            h = h + b
        h.backward()
        return [a.grad, b.grad]

    def doublings():
        h = a = tools.leaves(student, a=x)
        for _ in range(60):
            h = h + h
        with tools.work_limit(50_000):
            h.backward()
        return a.grad

    return {
        "input": f"a = {x:.4g}, b = {y:.4g}",
        "c = (a + b)·b: a.grad": lambda: first()["a"].grad,
        "c = (a + b)·b: b.grad": lambda: first()["b"].grad,
        "c = (a + b)·b: grad of a + b": lambda: first()["s"].grad,
        "c = (a + b)·b: c.grad": lambda: first()["c"].grad,
        "e = d·b + d·d with d = a·a: a.grad": lambda: diamond()["a"].grad,
        "e = d·b + d·d with d = a·a: d.grad": lambda: diamond()["d"].grad,
        "six times h + b·h: a.grad": lambda: ladder()["a"].grad,
        "six times h + b·h: b.grad": lambda: ladder()["b"].grad,
        "a alone, a.backward(): a.grad": leaf_alone,
        "a ** a: a.grad": both_arms,
        "p·q + p, both 0: p.grad and q.grad": zeros,
        "backward called twice: a.grad": lambda: called_again()["a"].grad,
        "backward called twice: grad of a + b": lambda: called_again()["s"].grad,
        "two results of s = a·b, s·a and s + b: a.grad": lambda: two_results()["a"].grad,
        "two results of s = a·b, s·a and s + b: s.grad": lambda: two_results()["s"].grad,
        "after zero_grad: a.grad": lambda: cleared()["a"].grad,
        "after zero_grad: grad of a + b": lambda: cleared()["s"].grad,
        "after zero_grad: c.grad": lambda: cleared()["c"].grad,
        "after zero_grad: data of a and of a + b": lambda: [cleared()["a"].data, cleared()["s"].data],
        "zero_grad, then backward: b.grad": lambda: cleared_and_called()["b"].grad,
        "60 doublings of a: a.grad": doublings,
        "10,500 times + b: a.grad and b.grad": long_chain,
    }


value_backward.mistake(
    "`grad =` overwrites: of several paths only the last is left",
    swap=("parent.grad += local_derivative * node.grad", "parent.grad = local_derivative * node.grad"),
    hint=["b has two paths to c. What does the second `=` do to the first?", "`+=`: over paths we add."])
value_backward.mistake(
    "the boxes are walked parents first, not from the result", swap=("for node in reversed(order):", "for node in order:"),
    hint=["What is in s.grad when s hands it on?", "`reversed(order)`: a box hands on when its own grad is complete."])
value_backward.mistake(
    "the start is missing: the result's own gradient stays 0", swap=("self.grad += 1.0", "pass"),
    hint=["How fast does c move with c?", "∂c/∂c = 1: set it before the walk."])
value_backward.mistake(
    "the walk starts from the result's number, not from 1", swap=("self.grad += 1.0", "self.grad += self.data"),
    hint=["How fast does c move with c?", "∂c/∂c = 1, whatever c is."])
value_backward.mistake(
    "boxes in between keep the gradient of the call before (`self.grad = 1.0` clears only the result)",
    swap=[("if node.parents:", "if False:"), ("self.grad += 1.0", "self.grad = 1.0")],
    hint=["Call backward twice: what is in s.grad when the second call begins?",
          "Before the walk, set grad to 0 on every node that has parents."])
value_backward.mistake(
    "boxes in between, and the result, keep the gradient of the call before", swap=("if node.parents:", "if False:"),
    hint=["Call backward twice: what is in s.grad when the second call begins?",
          "Before the walk, set grad to 0 on every node that has parents."])
value_backward.mistake(
    "the leaves are set to 0, too, so nothing adds up over calls", swap=("if node.parents:", "if True:"),
    hint=["A weight gets its gradient from two results. What happens to the first?",
          "Only nodes with parents start from 0."])
value_backward.mistake(
    "what a box has collected is not handed on: the local derivative alone is, or times the result's gradient, which is 1",
    swap=("local_derivative * node.grad", "local_derivative"),
    hint=["Along a path we multiply. What came down the path so far, and which box holds it?",
          "local_derivative · `node`.grad, not `self`.grad: self is the result, at which the walk began."])
value_backward.mistake(
    "`parents.index(parent)` finds the first place, also where one box is both parents", swap=(
        "for parent, local_derivative in zip(node.parents, node.local_derivatives):\n            parent.grad += local_derivative * node.grad",
        "for parent in node.parents:\n            parent.grad += node.local_derivatives[node.parents.index(parent)] * node.grad"),
    hint=["In a ** a the box a is both parents. Which of the two derivatives does your second step take?",
          "Walk both lists side by side: `zip(node.parents, node.local_derivatives)`."])
value_backward.mistake(
    "a leaf that calls backward itself is left out", swap=("order = topological_order(self)\n",
                                                           "if not self.parents:\n        return\n    order = topological_order(self)\n"),
    hint=["How fast does a move with a?", "∂a/∂a = 1 for a leaf, too: no special case."])
value_backward.mistake(
    "every box hands on its gradient at once, without waiting for the others", source='''
@add_to_class(Value)
def backward(self):
    for node in topological_order(self):
        if node.parents:
            node.grad = 0.0
    self.grad += 1.0

    def hand_on(node):
        for parent, local_derivative in zip(node.parents, node.local_derivatives):
            parent.grad += local_derivative * node.grad
            hand_on(parent)
    hand_on(self)

@add_to_class(Value)
def zero_grad(self):
    for node in topological_order(self):
        node.grad = 0.0
''', hint=["In the diamond, d hands on what came first, and then all of it again when the second part comes.",
           "Walk `reversed(topological_order(self))`: each box once, when it is complete."])
value_backward.mistake(
    "each box hands on when it is first met, and never again", source='''
@add_to_class(Value)
def backward(self):
    for node in topological_order(self):
        if node.parents:
            node.grad = 0.0
    self.grad += 1.0
    visited, stack = set(), [self]
    while stack:
        node = stack.pop()
        if node not in visited:
            visited.add(node)
            for parent, local_derivative in zip(node.parents, node.local_derivatives):
                parent.grad += local_derivative * node.grad
                stack.append(parent)

@add_to_class(Value)
def zero_grad(self):
    for node in topological_order(self):
        node.grad = 0.0
''', hint=["In the diamond, d is met over one path. What about the part that comes over the other one later?",
           "Walk `reversed(topological_order(self))`: each box once, when it is complete."])
value_backward.mistake(
    "every path is walked on its own: right, but their number doubles with each step", source='''
@add_to_class(Value)
def backward(self):
    for node in topological_order(self):
        if node.parents:
            node.grad = 0.0

    def walk(node, gradient):
        node.grad += gradient
        for parent, local_derivative in zip(node.parents, node.local_derivatives):
            walk(parent, gradient * local_derivative)
    walk(self, 1.0)

@add_to_class(Value)
def zero_grad(self):
    for node in topological_order(self):
        node.grad = 0.0
''', hint=["How many paths lead through 60 doublings?", "Collect first, hand on once: walk `reversed(topological_order(self))`."])
value_backward.mistake(
    "it recurses, so a long chain ends in RecursionError", source='''
@add_to_class(Value)
def backward(self):
    order, visited = [], set()

    def visit(node):
        if node not in visited:
            visited.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)
    visit(self)
    for node in order:
        if node.parents:
            node.grad = 0.0
    self.grad += 1.0
    for node in reversed(order):
        for parent, local_derivative in zip(node.parents, node.local_derivatives):
            parent.grad += local_derivative * node.grad

@add_to_class(Value)
def zero_grad(self):
    for node in topological_order(self):
        node.grad = 0.0
''', hint=["All is right but the depth.", "You have `topological_order` without recursion: use it."])
value_backward.mistake(
    "zero_grad clears only the box it is called on", swap=('''for node in topological_order(self):
        node.grad = 0.0''', "self.grad = 0.0"),
    hint=["c.zero_grad(): what is in a.grad?", "Walk over everything below: `topological_order(self)`."])
value_backward.mistake(
    "zero_grad clears only the leaves", swap=('''for node in topological_order(self):
        node.grad = 0.0''', '''for node in topological_order(self):
        if not node.parents:
            node.grad = 0.0'''),
    hint=["The docstring says: on this node and on everything it was computed from.", "No `if`: every node."])
value_backward.mistake(
    "zero_grad clears only the box and its direct parents", swap=('''for node in topological_order(self):
        node.grad = 0.0''', '''for node in (self, *self.parents):
        node.grad = 0.0'''),
    hint=["And the parents of the parents?", "Walk over everything below: `topological_order(self)`."])
value_backward.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_backward.variant("gradients collected in a dict first", source='''
@add_to_class(Value)
def backward(self):
    gradient = {self: 1}
    for node in topological_order(self)[::-1]:
        g = gradient[node]
        for i in range(len(node.parents)):
            parent = node.parents[i]
            gradient[parent] = gradient.get(parent, 0) + g * node.local_derivatives[i]
    for node, g in gradient.items():
        if node.parents:
            node.grad = g
        else:
            node.grad = node.grad + g

@add_to_class(Value)
def zero_grad(self):
    todo, seen = [self], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            node.grad = 0
            todo += node.parents
''')
value_backward.variant("each box waits until all of its users are done", source='''
@add_to_class(Value)
def backward(self):
    waiting, found, todo = {}, {self}, [self]
    while todo:
        node = todo.pop()
        if len(node.parents) > 0:
            node.grad = 0.0
        for parent in node.parents:
            waiting[parent] = waiting.get(parent, 0) + 1
            if parent not in found:
                found.add(parent)
                todo.append(parent)
    self.grad = 1.0
    ready = [self]
    while ready:
        node = ready.pop()
        for parent, slope in zip(node.parents, node.local_derivatives):
            parent.grad += slope * node.grad
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)

@add_to_class(Value)
def zero_grad(self):
    [setattr(node, "grad", 0.0) for node in topological_order(self)]
''')
value_backward.variant("set to 1: only a leaf that calls backward twice could tell", swap=("self.grad += 1.0", "self.grad = 1.0"))
value_backward.variant("the last box of the order is self", swap=("self.grad += 1.0", "node.grad += 1.0"))


# -- 11 · gradient check ------------------------------------------------------------------------------------------------

@check("value.gradcheck", points=3, needs=("value.slope", "value.add", "value.mul", "value.backward"))
def value_gradcheck(student, rng, tools):
    """A whole function, its gradient by backward and by slope."""
    x, y, z = rng.uniform(1.2, 1.9), -rng.uniform(0.3, 0.8), rng.uniform(2.1, 2.9)

    def product(a, b):
        return (a + b) * b

    def three(a, b, c):
        return a * b * c + c * c + a

    def cut(a, b):
        return a * student.Value(b.data) + b

    def run(f, inputs, which):
        by_backward, by_slope = student.two_gradients(f, inputs)
        return [float(number) for number in (by_backward, by_slope)[which]]

    def afterwards():
        inputs = [x, y, z]
        list(student.two_gradients(three, inputs))
        return inputs

    return {
        "input": f"a = {x:.4g}, b = {y:.4g}, c = {z:.4g}",
        "(a + b)·b, by backward": lambda: run(product, [x, y], 0),
        "(a + b)·b, by slope": lambda: run(product, [x, y], 1),
        "a·b·c + c·c + a, by backward": lambda: run(three, [x, y, z], 0),
        "a·b·c + c·c + a, by slope": lambda: run(three, [x, y, z], 1),
        "a · copy of b + b, by backward": lambda: run(cut, [x, y], 0),
        "a · copy of b + b, by slope": lambda: run(cut, [x, y], 1),
        "a·b·c + c·c + a at 3, 0, −2, by backward": lambda: run(three, [3, 0, -2], 0),
        "a·b·c + c·c + a at 3, 0, −2, by slope": lambda: run(three, [3, 0, -2], 1),
        "(a + b)·b with b = a, by backward": lambda: run(product, [x, x], 0),
        "(a + b)·b with b = a, by slope": lambda: run(product, [x, x], 1),
        "the inputs afterwards": afterwards,
    }


value_gradcheck.mistake(
    "all inputs are moved together", source='''
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    slopes = []
    for i in range(len(inputs)):
        def moved(x, i=i):
            return f(*[Value(other + x - inputs[i]) for other in inputs]).data
        slopes.append(slope(moved, inputs[i]))
    return [leaf.grad for leaf in leaves], slopes
''', hint=["∂f/∂a asks: what if only a moves?", "All inputs stay as they are but the one with the number i."])
value_gradcheck.mistake(
    "a function made in a loop sees the last i: all slopes are along the last input", source='''
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    along = [lambda x: f(*[Value(x if j == i else other) for j, other in enumerate(inputs)]).data for i in range(len(inputs))]
    return [leaf.grad for leaf in leaves], [slope(g, x) for g, x in zip(along, inputs)]
''', hint=["A lambda looks i up when it is called, not when it is made.", "Call it inside the loop, or fix i: `lambda x, i=i: …`."])
value_gradcheck.mistake(
    "the inputs are moved and not put back", source='''
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    slopes = []
    for i in range(len(inputs)):
        def moved(x):
            inputs[i] = x
            return f(*[Value(other) for other in inputs]).data
        slopes.append(slope(moved, inputs[i]))
    return [leaf.grad for leaf in leaves], slopes
''', hint=["What is in the list `inputs` after the call?", "Work on a copy: `moved = list(inputs)`."])
value_gradcheck.mistake(
    "backward is never called", swap=("f(*leaves).backward()", "f(*leaves)"),
    hint=["All of the first list is 0. Who fills grad?", "`f(*leaves).backward()`."])
value_gradcheck.mistake(
    "backward is called once per input on the same leaves, and they add up", source='''
def two_gradients(f, inputs):
    leaves, by_backward, by_slope = [Value(x) for x in inputs], [], []
    for i in range(len(inputs)):
        f(*leaves).backward()
        by_backward.append(leaves[i].grad)
        by_slope.append(slope(lambda x: f(*[Value(x if j == i else v) for j, v in enumerate(inputs)]).data, inputs[i]))
    return by_backward, by_slope
''', hint=["The second number is twice too large, the third three times.", "One call gives all gradients: put it before the loop."])
value_gradcheck.mistake(
    "the two lists are the wrong way round", swap=("return [leaf.grad for leaf in leaves], [along(i) for i in range(len(inputs))]",
                                                   "return [along(i) for i in range(len(inputs))], [leaf.grad for leaf in leaves]"),
    hint=["As long as both agree, nobody notices.", "First by backward, then by slope."])
value_gradcheck.mistake(
    "`.data` is missing: the slope is a Value, not a number", swap=(".data\n", "\n"),
    hint=["What is the type of the numbers in your second list?", "f returns a Value; `slope` wants its `.data`."])
value_gradcheck.mistake(
    "the slopes are taken at 0, not at the inputs", swap=("slope(moved, inputs[i])", "slope(moved, 0.0)"),
    hint=["At which point should the slope be?", "`slope(…, inputs[i])`."])
value_gradcheck.mistake(
    "both lists come from backward, so nothing is checked", swap=("return slope(moved, inputs[i])", "return leaves[i].grad"),
    hint=["A referee who asks the player is none.", "The second list comes from `slope`, and from nothing else."])
value_gradcheck.mistake(
    "only the first input is looked at", swap=[("for leaf in leaves]", "for leaf in leaves[:1]]"), ("range(len(inputs))", "range(1)")],
    hint=["How many numbers does each list hold?", "One per input."])
value_gradcheck.mistake(
    "`inputs.index(x)` finds the first place, also where two inputs are equal", source='''
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    by_slope = []
    for x in inputs:
        i = inputs.index(x)
        by_slope.append(slope(lambda t: f(*[Value(t if j == i else v) for j, v in enumerate(inputs)]).data, x))
    return [leaf.grad for leaf in leaves], by_slope
''', hint=["Which place does [2.0, 2.0].index(2.0) give for the second input?", "Count: `for i, x in enumerate(inputs)`."])
value_gradcheck.mistake(
    "the inputs are copied into an array of whole numbers, which cuts off the small step", source='''
import numpy as np

def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    by_slope = []
    for i in range(len(inputs)):
        def moved(x):
            copy = np.array(inputs)
            copy[i] = x
            return f(*[Value(float(v)) for v in copy]).data
        by_slope.append(slope(moved, inputs[i]))
    return [leaf.grad for leaf in leaves], by_slope
''', hint=["Of which type is np.array([3, 0, −2])? What becomes of 3.00001 in it?", "`np.array(inputs, dtype=float)`, or a list."])
value_gradcheck.variant("the two lists one after the other", source='''
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    yield [leaf.grad for leaf in leaves]
    yield [slope(lambda t: f(*map(Value, inputs[:i] + [t] + inputs[i + 1:])).data, x) for i, x in enumerate(inputs)]
''')
value_gradcheck.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_gradcheck.variant("moved copies of the list", source='''
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    out = f(*leaves)
    out.backward()
    by_backward, by_slope = [], []
    for i, x in enumerate(inputs):
        def g(t):
            copy = list(inputs)
            copy[i] = t
            return f(*map(Value, copy)).data
        by_backward.append(leaves[i].grad)
        by_slope.append(slope(g, x))
    return by_backward, by_slope
''')
value_gradcheck.variant("fresh leaves for each backward, NumPy arrays, own differences", source='''
import numpy as np

def two_gradients(f, inputs):
    x = np.array(inputs)
    n, h = len(x), 1e-5
    rules, slopes = np.zeros(n), np.zeros(n)
    for i in range(n):
        leaves = [Value(float(v)) for v in x]
        f(*leaves).backward()
        rules[i] = leaves[i].grad
        step = h * np.eye(n)[i]
        slopes[i] = (f(*[Value(v) for v in x + step]).data - f(*[Value(v) for v in x - step]).data) / (2 * h)
    return rules, slopes
''')
value_gradcheck.variant("as many leaves as inputs", swap=("range(len(inputs))", "range(len(leaves))"))
