"""Check 2 of lesson 10: one operation, computed and noted."""

import numpy as np

from autograder.checks.check import check


@check("tape.apply_op", points=3, rtol=1e-5, seconds=30, needs=("tape.nest",))
def apply_op(student, rng, tools):
    """What fn gets, what the Node keeps, on which tape it is listed; and that nothing is kept where nobody wants a gradient."""
    state, number = student.state, float(rng.uniform(1.5, 3.0))
    arrays = [rng.normal(size=5).astype(np.float32) for _ in range(2)]
    names = [f"{word}{rng.integers(10, 99)}" for word in ("twist", "fold")]
    values = [student.Tensor.from_host(student.queue, array) for array in arrays]

    def clean(program):
        def run():
            tapes, enabled, state.tapes, state.enabled = state.tapes, state.enabled, [], True
            try:
                return program()
            finally:
                state.tapes, state.enabled = tapes, enabled

        return run

    def leaves(a=True, b=True):
        return student.tensor(values[0], a), student.tensor(values[1], b)

    def rule(grad):
        calls.append("rule")
        return [grad, grad]

    calls = []

    def apply(*args, **options):
        """The Node of an operation that computes nothing new."""
        return student.apply_op(lambda *got: calls.append("fn") or values[0], rule, *args, **options)

    def result():
        a, b = leaves()
        return student.apply_op(lambda x, k, y: x * k + y, rule, a, number, b).to_host()

    def what_fn_gets():
        got, (a, b) = [], leaves()
        student.apply_op(lambda *each: got.extend(each) or values[0], rule, a, number, b, -number)
        return [0 if x is values[0] else 1 if x is values[1] else x if isinstance(x, float) else -9 for x in got]

    def note(a=True, b=True, **options):
        """Of one operation of b, a number, a and b: requires_grad, grad_fn is kept, a Node of the result, a tuple; parents by number."""
        a, b = leaves(a, b)
        out = apply(b, number, a, b, **options)
        parents = [0 if x is a else 1 if x is b else -9 for x in out.parents]
        kept = 1 if out.grad_fn is rule else 0 if out.grad_fn is None else -9
        return [
            int(out.requires_grad),
            kept,
            isinstance(out, student.Node) and out.value is values[0],
            isinstance(out.parents, tuple),
            len(parents),
            *parents,
        ]

    def who_requires():
        with student.Tape():
            return [x for flags in ((True, True), (True, False), (False, True), (False, False)) for x in note(*flags)]

    def without_recording():
        seen = []
        with student.Tape() as tape:
            for flags in ((True, True), (True, False)):
                with student.no_grad():
                    seen += [*note(*flags), *note(*flags, tape=tape), len(tape.nodes)]
                seen += [len(note(*flags)), len(tape.nodes)]
        return [*seen, number]

    def no_tape():
        return [*note(True, True), *note(False, False), number]

    def what_as_nodes_takes():
        """Tensors and arrays among the arguments: what fn gets, and which parents there are."""
        a, got = leaves()[0], []
        out = student.apply_op(lambda *each: got.extend(each) or values[0], rule, values[1], a, arrays[1], number)
        kinds = [0 if x is values[0] else 1 if x is values[1] else x if isinstance(x, float) else -9 for x in got]
        leaf, _, from_array = out.parents
        kinds[2] = isinstance(got[2], student.Tensor) and from_array.value is got[2]
        return [*kinds, len(out.parents), leaf.value is values[1], leaf.requires_grad, *from_array.to_host()]

    def without_a_rule():
        with student.Tape() as tape:
            out = student.apply_op(lambda *each: values[0], None, *leaves())
        return [out.requires_grad, len(out.parents), len(tape.nodes), out.value is values[0], number]

    def refused():
        """1 for a TypeError that names op and type, 2 for one that does not, 0 for none; nodes on the tape afterwards."""
        seen = [number]
        for wrong in (number, None, arrays[0]):
            with student.Tape() as tape:
                try:
                    student.apply_op(lambda *each: wrong, rule, *leaves(), op_name=names[0])
                    seen.append(0)
                except TypeError as error:
                    seen.append(1 if names[0] in str(error) and type(wrong).__name__ in str(error) else 2)
            seen.append(len(tape.nodes))
        return seen

    def traced():
        a, b = leaves()
        asked, answer, constants, before = [], object(), {"power": number}, state.trace

        class Trace:
            def operation(self, *args):
                asked.append(args)
                return answer

        calls.clear()
        try:
            with student.Tape() as tape:
                state.trace = Trace()
                answers = [apply(a, number, b, op_name=names[0], attrs=constants), apply(b)]
        finally:
            state.trace = before
        wanted = [(names[0], (a, number, b), constants), (None, (b,), {})]
        return [number, *[x is answer for x in answers], asked == wanted, len(calls), len(tape.nodes)]

    def name():
        a, b = leaves()
        constants = {"power": number}
        out, bare = apply(a, b, op_name=names[0], attrs=constants), apply(*leaves(False, False), op_name=names[1])
        return [out.op_name == names[0], bare.op_name is None, len(out.op_name), out.attrs == constants]

    def listed():
        """Lengths of the tapes, and whether what lies on them is what came back."""
        a, b = leaves()
        plain = leaves(False, False)
        outer, inner, other = (student.Tape() for _ in range(3))
        with outer:
            first = apply(a, number)
            with inner:
                second, third = apply(first, b), apply(b, a)
                apply(*plain)
                elsewhere = apply(a, b, tape=other)
            fourth = apply(third, third)
            apply(*plain, tape=other)
        late = apply(a, a, tape=other)
        apply(a, b)
        lists = [outer.nodes, inner.nodes, other.nodes]
        wanted = [[first, fourth], [second, third], [elsewhere, late]]
        return [
            number,
            *map(len, lists),
            *[int(len(x) == len(y) and all(p is q for p, q in zip(x, y))) for x, y in zip(lists, wanted)],
        ]

    def counted():
        a, b = leaves()
        calls.clear()
        with student.Tape():
            apply(a, b)
            apply(a, number)
            with student.no_grad():
                apply(a, b)
        return [calls.count("fn"), calls.count("rule"), number]

    return {
        "input": f"a = {arrays[0].tolist()}, b = {arrays[1].tolist()}, and the number {number:.4g}",
        "the numbers of a · k + b": clean(result),
        "what fn gets (0: the Tensor of a, 1: that of b, or a number)": clean(what_fn_gets),
        "operations of b, k, a, b, where a and b, a, b, none require: requires, grad_fn kept, a Node, tuple, parents": clean(
            who_requires
        ),
        "the same inside no_grad, and after it": clean(without_recording),
        "the same without any tape": clean(no_tape),
        "a Tensor, a Node, an array and a number: what fn gets, parents, the first one, the numbers of the array": clean(
            what_as_nodes_takes
        ),
        "without a grad_fn: requires, parents, nodes on the tape, the Tensor": clean(without_a_rule),
        "a result that is no Tensor: TypeError with the names of op and type, nodes on the tape": clean(refused),
        "while state.trace is set: what it is asked, what comes back, calls of fn, nodes on the tape": clean(traced),
        "op_name: kept, none where nothing is recorded, length; attrs are kept": clean(name),
        "nodes on the outer, the inner and another tape; are they the right ones": clean(listed),
        "calls of fn, calls of grad_fn": clean(counted),
    }


apply_op.mistake(
    "recorded inside no_grad, too",
    swap=("not is_grad_enabled() or ", ""),
    hint="Two conditions: somebody requires a gradient, and recording is on.",
)
apply_op.mistake(
    "recorded although no argument requires a gradient",
    swap=(" or not any([x.requires_grad for x in parents])", ""),
    hint="`c * c` of two constants: what would backward do there?",
)
apply_op.mistake(
    "recorded only if all arguments require a gradient",
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
