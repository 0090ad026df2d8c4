"""The whole lesson once more with closures, as in micrograd: right, and it must earn every point."""

CLOSURES = {
    "value.add": """
@add_to_class(Value)
def __add__(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + other.data, {self, other}, op="+")

    def _backward():
        self.grad += out.grad
        other.grad += out.grad
    out._backward = _backward
    return out
""",
    "value.mul": """
@add_to_class(Value)
def __mul__(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data * other.data, {self, other}, op="*")

    def _backward():
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad
    out._backward = _backward
    return out
""",
    "value.pow": """
@add_to_class(Value)
def __pow__(self, other):
    if isinstance(other, Value):
        out = Value(math.exp(other.data * math.log(self.data)), {self, other}, op="**")

        def _backward():
            self.grad += other.data * out.data / self.data * out.grad
            other.grad += out.data * math.log(self.data) * out.grad
    else:
        out = Value(self.data ** other, {self}, op="**")

        def _backward():
            self.grad += other * self.data ** (other - 1) * out.grad
    out._backward = _backward
    return out
""",
    "value.exp_log": """
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
""",
    "value.tanh_sigmoid": """
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
""",
    "value.relu": """
@add_to_class(Value)
def relu(self):
    out = Value(max(0, self.data), {self}, op="relu")

    def _backward():
        self.grad += (self.data > 0) * out.grad
    out._backward = _backward
    return out
""",
    "value.backward": """
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
""",
}
