"""What is observed of an operation of lesson 01 while there is no `backward`: a case has the function f, the numbers a and b, and
the gradient `up` that arrives at the result.
"""


def gradients(student, case, tools):
    a, b = student.Value(case.a), student.Value(case.b)
    y = case.f(a, b)
    yield
    tools.backpropagate(y, case.up)
    return {"a.grad": a.grad, "b.grad": b.grad}


def number(student, case):
    a, b = student.Value(case.a), student.Value(case.b)
    y = case.f(a, b)
    return {"y.data": y.data, "y.op": y.op, "a.data": a.data, "b.data": b.data, "a.grad": a.grad, "b.grad": b.grad}


def whole(student, case, tools):
    a, b = student.Value(case.a), student.Value(case.b)
    y = case.f(a, b)
    found = {"y.data": y.data, "a.data": a.data, "b.data": b.data}
    yield
    tools.backpropagate(y, case.up)
    return found | {"a.grad": a.grad, "b.grad": b.grad}


def function(student, case, tools):
    a = student.Value(case.a)
    y = case.f(a)
    found = {"y.data": y.data, "a.data": a.data}
    yield
    tools.backpropagate(y, case.up)
    return found | {"a.grad": a.grad}
