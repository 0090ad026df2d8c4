"""A program run without any engine: NumPy for the numbers, complex numbers for the derivatives, and by rules who has a gradient.

It says what is true of a program. An engine may refuse more than it does, but only where `may_refuse` gives the reason, and only
with an error: what it answers has to be right.
"""

from dataclasses import dataclass

import numpy as np
from fuzz.numbers import evaluate, nudged, owner

STEP = 1e-40  # of the imaginary part: its square is 0 beside 1
FINE = 1e-5  # of differences, for the gradient of a gradient
LARGE = 1e12  # gradients beyond are not compared: 1/√x at 0 is not ∞ in complex numbers


class Refused(Exception):
    """No program may do this."""


class Unknown(Exception):
    """What a statement gives is not known here: NaN and infinities on the way, a gradient of a gradient of a gradient."""


@dataclass
class Seen:
    """What a variable shows: an array, its gradient or None, and what it says of itself.

    sure               is requires_grad to be compared?
    unknown            does NaN in the gradient say that it is not known?
    may_be_none        might there be no such variable, where all of it is 0? And
    grad_may_be_none   no such gradient?
    """

    value: np.ndarray
    grad: np.ndarray | None
    requires_grad: bool
    leaf: bool
    sure: bool = True
    unknown: bool = False
    may_be_none: bool = False
    grad_may_be_none: bool = False


class Memory:
    """How often it was changed, and how many tensors were ever there."""

    def __init__(self):
        self.version, self.sharers = 0, 1


class Node:
    """An operation as it was recorded: the text, and of each input the node, the numbers, and the memory with its version.

    text     None for a leaf
    owner    of a leaf its Variable
    freed    did a backward let go of it? None: perhaps
    """

    count = 0

    def __init__(self, base, text=None, inputs=None, owner=None, memory=None):
        Node.count += 1
        self.number = Node.count
        self.base, self.text, self.inputs, self.owner = base.astype(np.float64), text, inputs or {}, owner
        self.result = memory, memory.version if memory else 0
        self.hooks, self.freed = [], False

    def below(self):
        return [node for node, *_ in self.inputs.values() if node]

    def value(self, shift, tangent):
        """The result where the inputs are shifted by real numbers, and by imaginary ones."""
        values = {}
        for name, (node, copy, *_) in self.inputs.items():
            if node in shift:
                copy = copy + shift[node]
            values[name] = copy + STEP * 1j * tangent[node] if node in tangent else copy
        return np.asarray(evaluate(self.text, values))

    def is_singular(self, nodes):
        """Is its slope along one of the nodes infinite, or NaN? Then 0 · ∞ may be met on the way."""
        tangent = {
            node: 1.5 + np.cos(np.arange(copy.size)).reshape(copy.shape)
            for node, copy, *_ in self.inputs.values()
            if node in nodes
        }
        value = self.value({}, tangent)
        return not (np.isfinite(value) & (np.abs(np.imag(value)) <= LARGE * STEP)).all()

    def factor(self):
        return float(np.prod(self.hooks))


class Gradient(Node):
    """∂(Σ upstream · root)/∂target, itself recorded."""

    def __init__(self, base, root, target, upstream, factor):
        super().__init__(base)
        self.inputs = {node.number: (node,) for node in graph(root)}
        self.of, self.times = (root, target, upstream), factor

    def value(self, shift, tangent):
        return self.times * differentiate(*self.of, shift)


class Variable:
    """A tensor of the program.

    node       None: no gradient
    leaf       is it a leaf?
    grad       None, an array, or a Variable; NaN where it is not known
    loose      is its requires_grad not known? Gradients of linear functions have none
    doubtful   of a gradient: may it be None where it is 0?
    """

    def __init__(self, data, node=None, leaf=True, memory=None):
        self.data, self.node, self.leaf = data, node, leaf
        self.memory = memory or Memory()
        self.grad, self.own = None, None
        self.retains = self.loose = self.doubtful = False

    @property
    def requires_grad(self):
        return self.node is not None


def graph(root, sure=False):
    """All nodes from the root down, the oldest first.

    sure   only those that an engine reaches for certain: the gradient of a gradient needs some of the nodes below, not all
    """
    found, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [] if sure and isinstance(node, Gradient) else node.below()
    return sorted(found, key=lambda node: node.number)


def way(root, target):
    """The nodes between: those of the root's graph that depend on the target, the oldest first."""
    found = {target}
    between = []
    for node in graph(root):
        if node is not target and any(below in found for below in node.below()):
            found.add(node)
            between.append(node)
    return between


def differentiate(root, target, upstream, shift=None):
    """∂(Σ upstream · root)/∂target, NaN where it is not known."""
    if root is target:
        return np.array(upstream, float)
    order = way(root, target)
    if not order:
        return np.zeros(target.base.shape)
    second = any(isinstance(node, Gradient) for node in order)
    if second and shift is not None:
        raise Unknown("a third derivative")
    unknown = any(not np.isfinite(node.base).all() for node in [target, *order])
    unknown = unknown or any(node.is_singular({target, *order}) for node in order if node.text)
    gradient = np.full(target.base.shape, np.nan)
    for place in np.ndindex(*gradient.shape) if not unknown else ():
        unit = np.zeros(gradient.shape)
        unit[place] = 1
        if second:
            size = FINE * max(1, abs(target.base[place]))
            found = [np.sum(upstream * moved(order, {target: h * unit})) / h for h in (-size, size, size / 3)]
            smooth = np.isclose(found, found[0], rtol=1e-3, atol=1e-3).all()  # else there is a kink, or a jump
            gradient[place] = (found[0] + found[1]) / 2 if smooth else np.nan
        else:
            gradient[place] = np.sum(upstream * slopes(order, target, unit, shift or {}))
    return np.where(np.abs(gradient) < LARGE, gradient, np.nan)


def slopes(order, target, unit, shift):
    tangent = {target: unit}
    for node in order:
        value = node.value(shift, tangent)
        if not np.isfinite(value).all():
            return np.nan
        tangent[node] = np.imag(value) / STEP * node.factor()
        if (np.abs(tangent[node]) > LARGE).any():
            return np.nan
    return tangent[order[-1]]


def moved(order, shift):
    for node in order:
        shift[node] = (node.value(shift, {}) - node.base) * node.factor()
    return shift[order[-1]]


class Reference:
    """Runs statements, and holds the variables.

    views   views(name of the word, result, input): does the result share memory, where NumPy's does? None: always
    nudge   0; or a number that says how the last digits of what is rounded are moved
    """

    name = "reference"

    def __init__(self, views=None, nudge=0):
        self.variables, self.views, self.nudge = {}, views, nudge

    def __getitem__(self, name):
        if self.variables.get(name) is None:
            raise Refused(f"no variable {name}")
        return self.variables[name]

    def step(self, statement):
        """Run a statement; it raises what makes it wrong."""
        recording = statement.mode != "no_grad"
        answer = getattr(self, statement.word.kind)(statement, recording)
        if statement.target:
            self.variables[statement.target] = answer

    def see(self, name):
        """What the variable shows; None where it is none."""
        x = self.variables.get(name)
        if x is None:
            return None
        grad = None if x.grad is None else x.grad.data
        sure, doubtful = not x.loose, x.grad is not None and x.grad.doubtful
        return Seen(x.data, grad, x.requires_grad, x.leaf, sure, True, x.doubtful, doubtful)

    def forget(self, name):
        """The variable is none any more."""
        self.variables[name] = None

    # -- operations ------------------------------------------------------------------------------

    def leaf(self, statement, recording):
        data = np.array(evaluate(statement.setting("data"), {}), order="C")
        return self.own_leaf(Variable(data), statement.setting("grad") == "True")

    def own_leaf(self, variable, wanted):
        """A leaf that requires a gradient or not; its node stays the same one."""
        variable.own = variable.own or Node(variable.data, owner=variable)
        variable.node = variable.own if wanted else None
        return variable

    def compute(self, statement):
        """The result as an array, and the text and inputs of a node for it."""
        text = statement.text("numpy")
        used = [(name, self[name]) for name in dict.fromkeys(statement.operands)]
        result = np.asarray(evaluate(text, {name: x.data for name, x in used}))
        if (
            result.dtype == np.float64
            and statement.word.name != "cast"
            and not any(x.data.dtype == np.float64 for _, x in used)
        ):
            result = result.astype(np.float32)
        if self.nudge:
            exact = evaluate(text, {name: x.data.astype(np.longdouble) for name, x in used})
            result = nudged(result, exact, self.nudge)
        sloped = statement.operands[statement.word.flat :]
        inputs = {
            name: (x.node if name in sloped else None, x.data.copy(), x.memory, x.memory.version) for name, x in used
        }
        return result, text, inputs

    def op(self, statement, recording):
        result, text, inputs = self.compute(statement)
        shared = [self[name] for name in statement.operands if owner(result) is owner(self[name].data)]
        if shared and self.views is not None and not self.views(statement.name, result, shared[0].data):
            result, shared = result.copy(), []
        memory = shared[0].memory if shared else Memory()
        memory.sharers += bool(shared)
        if statement.name.startswith("checkpoint"):  # it keeps its inputs
            for name in statement.operands:
                self[name].memory.sharers += 1
        node = None
        if recording and statement.word.kind != "cut" and any(x[0] for x in inputs.values()):
            node = Node(result, text, inputs, memory=memory)
        out = Variable(result, node, node is None, memory)
        out.loose = any(self[name].loose for name in statement.operands)
        return out

    cut = op

    def change(self, statement, recording):
        result, text, inputs = self.compute(statement)
        x = self[statement.operands[0]]
        if result.shape != x.data.shape:
            raise Refused("the shape would change")
        if not np.can_cast(result.dtype, x.data.dtype, "same_kind"):
            raise Refused("the type would change")
        if recording and x.requires_grad and x.leaf:
            raise Refused("a leaf")
        x.data[...] = result
        x.memory.version += 1
        if recording:
            constant = statement.word.name == "zero_" or not any(each[0] for each in inputs.values())
            x.node = None if constant else Node(x.data, text, inputs, memory=x.memory)
            x.leaf = x.node is None
            x.loose |= any(self[name].loose for name in statement.operands)

    def write(self, statement, recording):
        x = self[statement.operands[0]]
        x.data[...] = evaluate(statement.setting("data"), {})
        x.memory.version += 1

    # -- gradients -------------------------------------------------------------------------------

    def seed(self, statement):
        """The root, and ∂L/∂root."""
        x = self[statement.operands[0]]
        upstream = evaluate(statement.setting("up"), {})
        if x.node is None:
            raise Refused("no gradient")
        if upstream is None:
            if x.data.size != 1:
                raise Refused("several numbers")
            upstream = np.ones(x.data.shape)
        if np.shape(upstream) != x.data.shape:
            raise Refused("another shape")
        return x.node, np.asarray(upstream).astype(x.data.dtype).astype(float)

    def backward(self, statement, recording, times=1, keep=False):
        root, upstream = self.seed(statement)
        nodes = graph(root)
        if any(node.freed for node in graph(root, sure=True)):
            raise Refused("freed")
        wanted = [node for node in nodes if node.owner and node.owner.requires_grad]  # it may have been frozen since
        found = {node: differentiate(root, node, upstream) * node.factor() for node in wanted}
        doubtful = any(isinstance(node, Gradient) for node in nodes)
        for node, gradient in found.items():
            self.accumulate(node.owner, gradient * times, doubtful)
        for x in self.variables.values():
            if x is not None and x.retains and not x.leaf and x.node in nodes:
                self.accumulate(x, differentiate(root, x.node, upstream) * x.node.factor() * times, doubtful)
        if statement.setting("retain") == "False" and not keep:
            self.free(nodes)

    def threads(self, statement, recording):
        self.backward(statement, recording, times=3, keep=True)

    def free(self, nodes):
        perhaps = any(isinstance(node, Gradient) for node in nodes)
        for node in nodes:
            if not node.owner:
                node.freed = None if perhaps else True

    def accumulate(self, x, gradient, doubtful):
        before = x.grad.data if isinstance(x.grad, Variable) else x.grad
        x.grad = Variable(np.asarray(gradient if before is None else before + gradient, x.data.dtype))
        x.grad.doubtful = doubtful

    def grad(self, statement, recording):
        root, upstream = self.seed(statement)
        x = self[statement.operands[1]]
        if x.node is None:
            raise Refused("no gradient")
        used = x.node in graph(root)
        if not used and statement.setting("unused") == "False":
            raise Refused("unused")
        if not used:
            return None
        nodes = way(root, x.node)
        if any(node.freed for node in set(nodes) & set(graph(root, sure=True))):
            raise Refused("freed")
        data = np.asarray(differentiate(root, x.node, upstream) * x.node.factor()).astype(x.data.dtype)
        if np.isnan(data).any():
            raise Unknown("the gradient")
        data = nudged(data, data.astype(np.float16), self.nudge) if self.nudge else data
        out = Variable(data)
        out.doubtful = any(isinstance(node, Gradient) for node in nodes)
        if statement.setting("create") == "True":
            out.node, out.leaf, out.loose = Gradient(data, root, x.node, upstream, x.node.factor()), False, True
        if statement.setting("retain") == "False":
            self.free(nodes)
        return out

    def take(self, statement, recording):
        grad = self[statement.operands[0]].grad
        if grad is None:
            return None
        if np.isnan(grad.data).any():
            raise Unknown("a gradient")
        return grad

    def clear(self, statement, recording):
        self[statement.operands[0]].grad = None

    def wanted(self, statement):
        x = self[statement.operands[0]]
        if x.node is None:
            raise Refused("no gradient")
        return x

    def hook(self, statement, recording):
        factor = {"g * -2.0": -2.0, "g * 0.5": 0.5, "None": 1.0}[statement.setting("answer")]
        self.wanted(statement).node.hooks.append(factor)

    def retain(self, statement, recording):
        x = self.wanted(statement)
        x.retains = not x.leaf

    def ask(self, statement, recording):
        x, flag = self[statement.operands[0]], statement.setting("flag") == "True"
        if x.loose:
            raise Unknown("does it require a gradient?")
        if not x.leaf:
            if not flag:
                raise Refused("only a leaf can stop")
            return
        self.own_leaf(x, flag)

    # -- what an engine may refuse ---------------------------------------------------------------

    def may_refuse(self, statement):
        """Why an engine may refuse this, though it has a meaning; "" if it has to do it."""
        kind = statement.word.kind
        used = [self.variables.get(name) for name in statement.operands]
        if None in used:
            return ""
        if kind not in ("op", "cut", "take", "clear") and any(x.loose for x in used):
            return "perhaps it requires no gradient"
        if kind == "change" and statement.mode != "no_grad":
            if used[0].memory.sharers > 1 and any(x.requires_grad for x in used):
                return "another tensor shares the memory"
        if kind in ("backward", "grad", "threads") and used[0].node:
            nodes = graph(used[0].node)
            unsure = set(nodes) - set(graph(used[0].node, sure=True))
            if any(node.freed is None or node.freed and node in unsure for node in nodes):
                return "perhaps freed"
            edges = [edge[2:] for node in nodes if node.text for edge in node.inputs.values()]
            if any(memory and memory.version != then for memory, then in [*edges, *[node.result for node in nodes]]):
                return "changed since it was saved"
        return ""
