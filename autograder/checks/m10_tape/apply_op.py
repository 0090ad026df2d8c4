"""Check 2 of lesson 10: one operation, computed and noted."""

from autograder.checks.cases import Draft, Source, Text
from autograder.checks.check import exercise
from autograder.checks.m10_tape.programs import leaf, put, tenths

apply_op = exercise(
    "tape.apply_op",
    "An operation: what its function gets, what its Node keeps, on which tape it is listed.",
    needs=("tape.nest",),
    seconds=30,
)

SMALL = "a|a, b|a, c|c, a|c, c|a, a|c|a, 2.0|3, a, -1.5|a, 2.0, b, c|a, b, a|c, 2.0|t, a|a, [5.0, 6.0]|np.array([5.0, 6.0]), t, a|c, t"


def arguments(chosen, rng):
    """a and b require a gradient, c does not, and t is a Tensor."""
    a, b, c, t = (tenths((2,), rng) for _ in range(4))
    inputs = {
        "a": leaf(a),
        "b": leaf(b),
        "c": leaf(c, False),
        "t": put(t),
        "args": Text(f"({chosen},)"),
    }
    used = chosen.split(", ")
    tags = {
        "no argument requires a gradient": not {"a", "b"} & {*used},
        "a Node is passed twice": any(used.count(name) > 1 for name in "abc"),
        "only some of the Nodes require a gradient": "c" in used and {"a", "b"} & {*used},
        "a number is among the arguments": any(name.strip("-").replace(".", "").isdigit() for name in used),
        "a Tensor or an array is among the arguments": any(name[0] in "tn[" for name in used),
    }
    return Draft(inputs, tuple(tag for tag, holds in tags.items() if holds))


def drawn(rng):
    return arguments(
        ", ".join([*rng.choice(["a", "b", "c", "t", "2.0", "-3"], rng.integers(4)), rng.choice([*"abct"])]), rng
    )


def one_of(*options):
    return lambda rng: options[rng.integers(len(options))]


ARGUMENTS = Source(lambda rng: [arguments(chosen, rng) for chosen in SMALL.split("|")] * 3, drawn).add(
    options=one_of({}, {"op_name": "twist"}, {"op_name": "fold", "attrs": {"k": 2}}),
    rule=one_of(Text("lambda grad: 1 / 0"), Text("lambda grad: 1 / 0"), None),
    enabled=one_of(True, True, True, False),
)


@apply_op.aspect("what fn gets, and what the Node keeps", 1.5, cases=ARGUMENTS, few=29)
def kept(student, case):
    got, used = [], []
    with student.set_grad_enabled(case.enabled):
        out = student.apply_op(
            lambda *values: got.extend(values) or case.t.copy(), case.rule, *case.args, **case.options
        )
    yield
    for x in [*got, *out.parents]:
        known = [number for number, given in enumerate(case.args) if x is given or x is getattr(given, "value", None)]
        what = f"argument {known[0]}" if known else f"a new {type(x).__name__}"
        used.append([what, x.to_host() if hasattr(x, "to_host") else x])
    return {
        "fn gets": used[: len(got)],
        "parents": [type(out.parents).__name__, *used[len(got) :]],
        "requires_grad": out.requires_grad,
        "grad_fn": "the rule" if out.grad_fn is case.rule else "another" if out.grad_fn else None,
        "name": out.op_name,
        "attrs": str(out.attrs),
        "result": [type(out).__name__, out.to_host()],
    }


@apply_op.aspect(
    "on which tape it is listed",
    0.75,
    few=16,
    cases=ARGUMENTS.add(passed=one_of(None, None, "other", "outer", "inner")),
)
def listed(student, case):
    student.state.tapes = []  # whatever an earlier attempt has left open
    tapes, made = {name: student.Tape() for name in ("outer", "inner", "other")}, []

    def apply():
        made.append(student.apply_op(lambda *values: case.t.copy(), len, *case.args, tape=tapes.get(case.passed)))

    with student.set_grad_enabled(case.enabled):
        apply()
        with tapes["outer"]:
            apply()
            with tapes["inner"]:
                apply(), apply()
            apply()
        apply()
    return {name: str([made.index(node) for node in tape.nodes]) for name, tape in tapes.items()}


@apply_op.aspect("while state.trace is set, it decides", 0.5, corner=True, few=8, cases=ARGUMENTS)
def traced(student, case):
    asked, called, tape = [], [], student.Tape()

    class Trace:
        def operation(self, name, args, attrs):
            asked.append([str(name), len(args), *[x is given for x, given in zip(args, case.args)], str(attrs)])
            return "what the trace says"

    try:
        student.state.trace = Trace()
        with tape:
            said = student.apply_op(lambda *values: called.append(1) or case.t, len, *case.args, **case.options)
    finally:
        student.state.trace = None
    return {"result": said, "asked": asked, "fn is called": bool(called), "nodes on the tape": len(tape.nodes)}


@apply_op.aspect(
    "a result that is no Tensor is refused",
    0.25,
    corner=True,
    few=6,
    cases=ARGUMENTS.add(
        result=one_of(None, 2.0, [1.0, 2.0], (), Text("np.zeros(2)"), Text("a")), name=one_of("twist", "fold")
    ),
)
def refused(student, case):
    """The text names the op and the type."""
    tape = student.Tape()
    try:
        with tape:
            student.apply_op(lambda *values: case.result, len, *case.args, op_name=case.name)
    except TypeError as error:
        return case.name in str(error), type(case.result).__name__ in str(error), len(tape.nodes)


apply_op.mistake(
    "calls inside no_grad are recorded, too",
    swap=("not is_grad_enabled() or ", ""),
    hint="Two conditions: somebody requires a gradient, and recording is on.",
)
apply_op.mistake(
    "a call is recorded although no argument requires a gradient",
    swap=(" or not any([x.requires_grad for x in parents])", ""),
    hint="`c * c` of two constants: what would backward do there?",
)
apply_op.mistake(
    "a call is recorded only if all arguments require a gradient",
    swap=("any(", "all("),
    hint="w · x with an input x that requires none: w still wants its gradient. `any`.",
)
apply_op.mistake(
    "numbers are parents, too",
    swap=[
        ("tuple([x for x in nodes if isinstance(x, Node)])", "tuple(nodes)"),
        ("x.requires_grad for x in parents", "isinstance(x, Node) and x.requires_grad for x in parents"),
    ],
    hint="A number has no gradient and no past: Nodes only.",
)
apply_op.mistake(
    "only those who require a gradient are parents",
    swap=("Node(out, True, parents,", "Node(out, True, tuple(x for x in parents if x.requires_grad),"),
    hint=[
        "grad_fn's list has an entry for each Node among args.",
        "All Nodes are parents; backward skips those that require nothing.",
    ],
)
apply_op.mistake(
    "a Node that is passed twice is one parent",
    swap=(
        "tuple([x for x in nodes if isinstance(x, Node)])",
        "tuple(dict.fromkeys(x for x in nodes if isinstance(x, Node)))",
    ),
    hint="x · x: the rule gives two parts, one for each place.",
)
apply_op.mistake(
    "fn gets Nodes, not their Tensors",
    swap=("[x.value if isinstance(x, Node) else x for x in nodes]", "nodes"),
    hint="fn computes with Tensors: `x.value`.",
)
apply_op.mistake(
    "fn gets the Tensors alone, without the numbers",
    swap=("x.value if isinstance(x, Node) else x for x in nodes]", "x.value for x in nodes if isinstance(x, Node)]"),
    hint="`x * 2.0`: fn needs the 2.0, at its place.",
)
apply_op.mistake(
    "the Node is listed on the outermost tape",
    swap=("current_tape() if tape is None", "state.tapes[0] if tape is None and state.tapes"),
    hint="The innermost one: `current_tape()`.",
)
apply_op.mistake(
    "the tape that was passed is ignored",
    swap=("tape = current_tape() if tape is None else tape", "tape = current_tape()"),
    hint="`tape=` says where, if it is not None.",
)
apply_op.mistake(
    "the Node is listed on the tape that was passed, and on the open one",
    swap=(
        "    if tape is not None:\n",
        "    if tape is not current_tape() and current_tape():\n        current_tape().nodes.append(node)\n    if tape is not None:\n",
    ),
    hint="On one of the two: the one that was passed, else the open one.",
)
apply_op.mistake(
    "without an open tape there is an error",
    swap=("    if tape is not None:\n        tape.nodes.append(node)", "    tape.nodes.append(node)"),
    hint="No tape at all is fine: the graph is in the nodes.",
)
apply_op.mistake(
    "without an open tape, nothing is recorded",
    swap=("if grad_fn is None", "if (tape or current_tape()) is None or grad_fn is None"),
    hint="The graph is in the nodes, and another tape can go back through it. The list is all that is missing.",
)
apply_op.mistake(
    "all results are listed, also those that are not recorded",
    swap=(
        "        return Node(out)\n",
        "        return record(Node(out), tape)\n",
    ),
    hint="Only what backward can go through is worth a place on the tape.",
)
apply_op.mistake(
    "results under no_grad keep their rule and their parents",
    swap=("return Node(out)", "return Node(out, False, parents, grad_fn, op_name, attrs)"),
    hint=["The rule holds on to Tensors. Who frees them?", "`Node(out)`, and nothing else."],
)
apply_op.mistake(
    "the name is lost",
    swap=("parents, grad_fn, op_name", "parents, grad_fn, None"),
    hint="`op_name` is the Node's fifth argument.",
)
apply_op.mistake(
    "grad_fn is called at once",
    swap=("    return record(", "    grad_fn(out)\n    return record("),
    hint="There is no gradient yet. Keep the function; backward calls it.",
)
apply_op.mistake(
    "the Node does not require a gradient itself",
    swap=("Node(out, True,", "Node(out, False,"),
    hint="Who is computed from w needs a gradient, so that w can get one.",
)
apply_op.mistake(
    "Tensors and arrays are taken for numbers: as_nodes is not asked",
    swap=("as_nodes(args)", "args"),
    hint="`as_nodes(args)` makes leaves of them, first of all.",
)
apply_op.mistake(
    "an operation without a grad_fn is recorded",
    swap=("grad_fn is None or ", ""),
    hint="It has no gradient. What would backward call?",
)
apply_op.mistake(
    "what fn returns is not checked",
    swap=("if not isinstance(out, Tensor):", "if False:"),
    hint="A TypeError here names the op. Later, nobody knows where the odd value came from.",
)
apply_op.mistake(
    "the constants are lost",
    swap=("op_name, attrs)", "op_name)"),
    hint="`attrs` is the Node's last argument.",
)
apply_op.mistake(
    "the hook is not asked",
    swap=(
        "    if state.trace is not None:\n        return state.trace.operation(op_name, args, attrs or {})\n",
        "",
    ),
    hint="First of all: is `state.trace` set? Then nothing is computed, and the answer is the trace's.",
)
apply_op.variant(
    "in long form",
    source="""
def record(node, tape=None):
    target = tape
    if target is None:
        target = current_tape()
    if target is not None:
        target.nodes += [node]
    return node


def apply_op(fn, grad_fn, *args, tape=None, op_name=None, attrs=None):
    if state.trace:
        return state.trace.operation(op_name, args, {} if attrs is None else attrs)
    values, parents, wanted = [], [], False
    for x in as_nodes(args):
        if isinstance(x, Node):
            values.append(x.value)
            parents.append(x)
            wanted = wanted or x.requires_grad
        else:
            values.append(x)
    node = Node(fn(*values))
    if type(node.value) is not Tensor:
        raise TypeError(str(op_name) + " gives no Tensor, but a " + str(type(node.value)))
    if wanted and is_grad_enabled() and grad_fn:
        node = Node(node.value, requires_grad=True, parents=tuple(parents), grad_fn=grad_fn, op_name=op_name, attrs=attrs)
        record(node, tape=tape)
    return node
""",
)
apply_op.variant(
    "arguments of Node by name, tapes by `or`",
    source="""
def record(node, tape=None):
    tape = tape or current_tape()
    if tape:
        tape.nodes.append(node)
    return node


def apply_op(fn, grad_fn, *args, tape=None, op_name=None, attrs=None):
    trace = state.trace
    if trace is not None:
        return trace.operation(op_name, args, dict(attrs or {}))
    args = as_nodes(args)
    nodes = [x for x in args if hasattr(x, "requires_grad")]
    out = fn(*map(lambda x: getattr(x, "value", x), args))
    if not hasattr(out, "buffer"):
        raise TypeError(f"{op_name}: {out!r}, {type(out)}")
    if is_grad_enabled() and grad_fn is not None and True in [x.requires_grad for x in nodes]:
        out = Node(attrs=attrs, op_name=op_name, grad_fn=grad_fn, parents=(*nodes,), requires_grad=True, value=out)
        return record(out, tape)
    return Node(out, False)
""",
)
