"""Check 8 of lesson 08: one step of Newton's method."""

from autograder.checks.check import exercise
from autograder.checks.m08_custom.functions import PARABOLAS, VALLEYS

custom_newton = exercise("custom.newton", "Newton's step.", needs=("custom.hvp",))


def step(student, case):
    place = student.newton_step(case.f, case.x)
    numbers = place.data if isinstance(place, student.Tensor) else place
    return {"the place": numbers, "it is the caller's x itself": numbers is case.x}


custom_newton.aspect("to the bottom of a parabola", 1, cases=PARABOLAS, rtol=1e-5, atol=1e-6)(step)
custom_newton.aspect("where f is no parabola", 1, cases=VALLEYS, rtol=1e-5, atol=1e-6)(step)


custom_newton.mistake(
    "the step goes uphill: it is added",
    swap=("return x - ", "return x + "),
    hint=["The gradient points up.", "x − H⁻¹ g."],
)
custom_newton.mistake(
    "H g is taken, not H⁻¹ g",
    swap=("np.linalg.solve(hessian, gradient.data)", "hessian @ gradient.data"),
    hint=["Where the bowl is steeper, the step should be shorter.", "`np.linalg.solve(hessian, gradient.data)`."],
)
custom_newton.mistake(
    "the step alone comes back, not the place where it leads",
    swap=("return x - np.linalg.solve", "return -np.linalg.solve"),
    hint=["From where is that step?", "x − H⁻¹ g."],
)
custom_newton.mistake(
    "solve got its two arguments the wrong way round",
    swap=("solve(hessian, gradient.data)", "solve(gradient.data, hessian)"),
    hint=["`np.linalg.solve(A, b)` solves A s = b. Which is the matrix?", "`np.linalg.solve(hessian, gradient.data)`."],
)
custom_newton.mistake(
    "only the diagonal of H is used",
    swap=("np.linalg.solve(hessian, gradient.data)", "gradient.data / np.diag(hessian)"),
    hint=["The bowl may lie askew: the mixed derivatives say how.", "`np.linalg.solve` with the whole matrix."],
)
custom_newton.mistake(
    "g is divided by H · ones: that is no inverse",
    swap=("np.linalg.solve(hessian, gradient.data)", "gradient.data / hvp(f, x, np.ones(len(x)))"),
    hint=["A sum over each row of H is no Hessian.", "n products, one for each unit vector, then `solve`."],
)
custom_newton.mistake(
    "a gradient step is made: H is missing",
    swap=("np.linalg.solve(hessian, gradient.data)", "0.01 * gradient.data"),
    hint=["On a parabola, one step should reach the bottom.", "H from n Hessian-vector products, then `solve`."],
)
custom_newton.mistake(
    "only half a step is made",
    swap=("np.linalg.solve(hessian, gradient.data)", "0.5 * np.linalg.solve(hessian, gradient.data)"),
    hint=[
        "On a parabola, one step should reach the bottom.",
        "The whole step, H⁻¹ g; the ½ of the parabola is in H already.",
    ],
)
custom_newton.mistake(
    "the Hessian is taken at 0, not at x",
    swap=("hvp(f, x, e)", "hvp(f, 0 * x, e)"),
    hint=["On a parabola H is the same everywhere. Elsewhere?", "hvp(f, x, e), at x."],
)
custom_newton.mistake(
    "the gradient is taken at 0, not at x",
    swap=("leaf = Tensor(x, requires_grad=True)", "leaf = Tensor(0 * x, requires_grad=True)"),
    hint=["Where does the step start?", "Both at x."],
)
custom_newton.mistake(
    "one is added to the diagonal, always",
    swap=("np.linalg.solve(hessian, ", "np.linalg.solve(hessian + np.eye(len(x)), "),
    hint=["A remedy for singular matrices. But a parabola's bottom is missed then.", "H alone."],
)
custom_newton.mistake(
    "the size of the step uses |H|, so a saddle is left, not reached",
    source="""
def newton_step(f, x):
    leaf = Tensor(x, requires_grad=True)
    (gradient,) = grad(f(leaf), leaf)
    hessian = np.stack([hvp(f, x, e) for e in np.eye(len(x))])
    values, vectors = np.linalg.eigh(hessian)
    return x - vectors @ ((vectors.T @ gradient.data) / np.abs(values))
""",
    hint=[
        "A clever repair, for real optimizers. Here the plain step is asked for, wherever it leads.",
        "`np.linalg.solve(hessian, gradient.data)`.",
    ],
)
custom_newton.mistake(
    "x is changed in place",
    swap=(
        "return x - np.linalg.solve(hessian, gradient.data)",
        "x -= np.linalg.solve(hessian, gradient.data)\n    return x",
    ),
    hint=["What is in the caller's x afterwards?", "A new array: `x - …`."],
)
custom_newton.mistake(
    "H is built of gradients' products, as if f were half a square",
    swap=(
        "np.stack([hvp(f, x, e) for e in np.eye(len(x))])",
        "np.outer(gradient.data, gradient.data) + 1e-3 * np.eye(len(x))",
    ),
    hint=["g gᵀ has first derivatives only.", "Row i is hvp(f, x, eᵢ)."],
)
custom_newton.variant(
    "columns, and the inverse",
    source="""
def newton_step(f, x):
    n = x.size
    H = np.zeros((n, n))
    for i in range(n):
        e = np.zeros(n)
        e[i] = 1.0
        H[:, i] = np.asarray(hvp(f, x, e))
    leaf = Tensor(x, requires_grad=True)
    f(leaf).backward()
    return x - np.linalg.inv(H) @ leaf.grad.data
""",
)
custom_newton.variant(
    "the Hessian from one recorded gradient, row by row",
    source="""
def newton_step(f, x):
    leaf = Tensor(x, requires_grad=True)
    (g,) = grad(f(leaf), leaf, create_graph=True)
    rows = [grad(g, leaf, e, retain_graph=True)[0].data for e in np.eye(len(x))]
    step, *_ = np.linalg.lstsq(np.array(rows), g.data, rcond=None)
    return Tensor(x - step)
""",
)
custom_newton.variant(
    "H is symmetric: rows or columns",
    swap=(
        "np.stack([hvp(f, x, e) for e in np.eye(len(x))])",
        "np.stack([hvp(f, x, e) for e in np.eye(len(x))], axis=1)",
    ),
)
custom_newton.variant(
    "a list of rows",
    swap=("np.stack([hvp(f, x, e) for e in np.eye(len(x))])", "[hvp(f, x, e) for e in np.eye(len(x))]"),
)
custom_newton.variant("a tensor in place of its array: it is copied", swap=("hvp(f, x, e)", "hvp(f, leaf, e)"))
custom_newton.variant(
    "as many unit vectors as the gradient has numbers", swap=("np.eye(len(x))", "np.eye(len(gradient))")
)
custom_newton.variant("as many unit vectors as the leaf has numbers", swap=("np.eye(len(x))", "np.eye(len(leaf))"))
custom_newton.variant("a tensor comes back", swap=("return x - np", "return leaf - np"))
custom_newton.variant("a tensor in solve: NumPy makes an array of it", swap=("gradient.data)", "gradient)"))
