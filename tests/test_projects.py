"""The open tasks: right attempts pass on every device, each wrong one fails with the property that it breaks."""

import numpy as np
import pytest

from autograder.projects import convolution, language, memory, product
from autograder.projects.drawing import Draws
from projects import attempts, functions

TASKS = {each.name: each for each in (convolution.task, product.task, memory.task, language.task)}
RIGHT = [(task, name) for task in TASKS for name in attempts(task)]
BY_NUMPY = """
import numpy as np
from autograder.projects.convolution import Case, convolved


def case_of(x, w, stride, padding):
    return Case(tuple(x), tuple(w), stride, padding)
"""

STRASSEN = '''
BLOCKS = """
__kernel void blend(__global float *out, __global const float *x, int rows, int cols, int i, int j, int p, int q, float factor)
{
    int c = get_global_id(0), r = get_global_id(1);
    out[r * cols + c] = x[(r + i * rows) * 2 * cols + c + j * cols]
                      + (factor == 0 ? 0 : factor * x[(r + p * rows) * 2 * cols + c + q * cols]);
}
__kernel void join(__global float *c, __global const float *M, int rows, int cols, int i, int j, float factor, int first)
{
    int x = get_global_id(0), y = get_global_id(1), at = (y + i * rows) * 2 * cols + x + j * cols;
    c[at] = (first ? 0 : c[at]) + factor * M[y * cols + x];
}
"""


def mix(x, i, j, p=0, q=0, factor=0.0):
    rows, cols = x.shape[0] // 2, x.shape[1] // 2
    out = Tensor.from_shape(x.queue, (rows, cols))
    start(BLOCKS, "blend", (cols, rows), out, x, rows, cols, i, j, p, q, factor)
    return out


def strassen(a, b):
    c, seen = Tensor.from_shape(a.queue, (a.shape[0], b.shape[1])), set()
    rows, cols = a.shape[0] // 2, b.shape[1] // 2
    for left, right, places in [
        ((0, 0, 1, 1, 1.0), (0, 0, 1, 1, 1.0), [(0, 0, 1.0), (1, 1, 1.0)]),
        ((1, 0, 1, 1, 1.0), (0, 0), [(1, 0, 1.0), (1, 1, -1.0)]),
        ((0, 0), (0, 1, 1, 1, -1.0), [(0, 1, 1.0), (1, 1, 1.0)]),
        ((1, 1), (1, 0, 0, 0, -1.0), [(0, 0, 1.0), (1, 0, 1.0)]),
        ((0, 0, 0, 1, 1.0), (1, 1), [(0, 0, -1.0), (0, 1, 1.0)]),
        ((1, 0, 0, 0, -1.0), (0, 0, 0, 1, 1.0), [(1, 1, 1.0)]),
        ((0, 1, 1, 1, -1.0), (1, 0, 1, 1, 1.0), [(0, 0, 1.0)]),
    ]:
        M = naive(mix(a, *left), mix(b, *right))
        for i, j, factor in places:
            start(BLOCKS, "join", (cols, rows), c, M, rows, cols, i, j, factor, int((i, j) not in seen))
            seen.add((i, j))
    return c


'''

# (what is wrong, the base, its edits, words of the property that must be named)
WRONG = {
    "convolution": [
        ("the window is turned round", [("* I + i) * J + j];\n            }\n    out[at] = sum;\n}\n\"\"\"\nDX", "* I + I - 1 - i) * J + J - 1 - j];\n            }\n    out[at] = sum;\n}\n\"\"\"\nDX")], "conv computes"),
        ("the padding is forgotten", [("p * stride + i - padding, column = q * stride + j - padding;\n                if (row >= 0 && row < H && column >= 0 && column < W)\n                    sum += x[((n * C + c) * H + row) * W + column] * w", "p * stride + i, column = q * stride + j;\n                if (row < H && column < W)\n                    sum += x[((n * C + c) * H + row) * W + column] * w")], "conv computes"),
        ("columns by the padding of one side only", [("(W + 2 * padding - J)", "(W + padding - J)")], "conv computes"),
        ("one channel is seen", [("for (int c = 0; c < C; c++)", "for (int c = 0; c < 1; c++)")], "conv computes"),
        ("rows are as long as columns", [("* H + row) * W + column] * w", "* H + row) * H + column] * w")], "conv computes"),
        ("the stride moves rows alone", [("column = q * stride + j - padding;\n                if (row >= 0 && row < H && column >= 0 && column < W)\n                    sum += x[((n * C + c) * H + row) * W + column] * w", "column = q + j - padding;\n                if (row >= 0 && row < H && column >= 0 && column < W)\n                    sum += x[((n * C + c) * H + row) * W + column] * w")], "conv computes"),
        ("it writes behind its result", [("    if (at >= N * F * P * Q) return;\n", ""), ('"conv", out.size', '"conv", out.size + 8')], "conv computes"),
        ("it returns a Node", [("    return out\n\n\ndef conv_dx", "    import tinygrad_cl.netcl.autograd as ag\n    return ag.tensor(out)\n\n\ndef conv_dx")], "conv computes"),
        ("the gradient of x ignores the stride", [("p % stride == 0 && q % stride == 0 && ", "")], "finite differences"),
        ("the gradient of x is halved", [("            }\n    out[at] = sum;\n}\n\"\"\"\nDW", "            }\n    out[at] = sum / 2;\n}\n\"\"\"\nDW")], "finite differences"),
        ("the gradient of x is that of the window turned round", [("int p = row + padding - i, q = column + padding - j;", "int p = row + padding - (I - 1 - i), q = column + padding - (J - 1 - j);")], "finite differences"),
        ("the gradient of w sees one picture", [("for (int n = 0; n < N; n++)", "for (int n = 0; n < 1; n++)")], "finite differences"),
        ("the gradient of w is a mean over the pictures", [("            }\n    out[at] = sum;\n}\n\"\"\"\n\n\ndef sizes", "            }\n    out[at] = sum / N;\n}\n\"\"\"\n\n\ndef sizes")], "finite differences"),
        ("the gradient of w is right up to 200 weights", [("    if (at >= F * C * I * J) return;", "    if (at >= F * C * I * J) return;\n    if (at >= 200) { out[at] = 0; return; }")], "<conv(x, w), g>"),
        ("the gradient of x is right up to 1,000 numbers", [("    if (at >= N * C * H * W) return;", "    if (at >= N * C * H * W) return;\n    if (at >= 1000) { out[at] = 0; return; }")], "<conv(x, w), g>"),
        ("the stride is 3 at most", [("    int at = get_global_id(0);\n", "    int at = get_global_id(0);\n    stride = min(stride, 3);\n")], "conv computes"),
        ("the padding is 2 at most", [("    int at = get_global_id(0);\n", "    int at = get_global_id(0);\n    padding = min(padding, 2);\n")], "conv computes"),
        ("the gradients know strides up to 3", [("    if (at >= N * C * H * W) return;\n", "    if (at >= N * C * H * W) return;\n    stride = min(stride, 3);\n"), ("    if (at >= F * C * I * J) return;\n", "    if (at >= F * C * I * J) return;\n    stride = min(stride, 3);\n")], "finite differences"),
        ("windows of 5 at most", [("    if (at >= F * C * I * J) return;\n", "    if (at >= F * C * I * J) return;\n    if (I > 5 && at % J > 4) { out[at] = 0; return; }\n")], "<conv(x, w), g>"),
        ("sums are whole numbers", [("float sum = 0;", "int sum = 0;")], "fractions"),
        ("sums are fixed-point numbers", [("float sum = 0;", "long sum = 0;"), ("sum += ", "sum += 16777216.0f * "), ("out[at] = sum;", "out[at] = sum / 16777216.0f;")], "fractions"),
        ("inputs of conv are cut to bfloat16", [("sum += x[((n * C + c) * H + row) * W + column] * w[((f * C + c) * I + i) * J + j];", "sum += as_float(as_uint(x[((n * C + c) * H + row) * W + column]) & 0xffff0000u) * w[((f * C + c) * I + i) * J + j];")], "fractions"),
        ("w is cut to tf32 for the gradient of x", [("* w[((f * C + c) * I + i) * J + j];\n            }\n    out[at] = sum;\n}\n\"\"\"\nDW", "* as_float(as_uint(w[((f * C + c) * I + i) * J + j]) & 0xffffe000u);\n            }\n    out[at] = sum;\n}\n\"\"\"\nDW")], "fractions"),
        ("g is cut to tf32 for the gradient of w", [("* g[((n * F + f) * P + p) * Q + q];", "* as_float(as_uint(g[((n * F + f) * P + p) * Q + q]) & 0xffffe000u);")], "fractions"),
        ("four results take turns", [("def conv(x,", "KEPT = {}\n\n\ndef conv(x,"), ("    out = Tensor.from_shape(x.queue, (N, F, P, Q))", "    ring = KEPT.setdefault((x.queue, N, F, P, Q), [Tensor.from_shape(x.queue, (N, F, P, Q)) for _ in range(4)])\n    out = ring.pop(0)\n    ring.append(out)")], "memory of its own"),
        ("all calls share one result", [("def conv(x,", "KEPT = {}\n\n\ndef conv(x,"), ("    out = Tensor.from_shape(x.queue, (N, F, P, Q))", "    out = KEPT.setdefault((x.queue, N, F, P, Q), Tensor.from_shape(x.queue, (N, F, P, Q)))")], "memory of its own"),
        ("it writes into its input", [("__global const float *x, __global const float *w, int N, int C, int H, int W, int F,\n                   int I", "__global float *x, __global const float *w, int N, int C, int H, int W, int F,\n                   int I"), ("    out[at] = sum;\n}\n\"\"\"\nDX", "    out[at] = sum;\n    if (at == 0 && N * F * P * Q > 20) x[0] += 1;\n}\n\"\"\"\nDX")], "<conv(x, w), g>|memory of its own|conv computes"),
        ("conv is computed by NumPy", [("    start(CONV, \"conv\", out.size, out, x, w, *numbers, stride, padding)\n    return out", "    return Tensor.from_host(x.queue, convolved(case_of(x.shape, w.shape, stride, padding), x.to_host(), w.to_host()))"), ("CONV = ", BY_NUMPY + "\nCONV = ")], "all of it is computed on the device"),
        ("conv is computed by NumPy, beside an idle launch", [("    return out\n\n\ndef conv_dx", "    out.write(convolved(case_of(x.shape, w.shape, stride, padding), x.to_host(), w.to_host()).astype('f4'))\n    return out\n\n\ndef conv_dx"), ("CONV = ", BY_NUMPY + "\nCONV = "), ("    out[at] = sum;\n}\n\"\"\"\nDX", "    out[at] = 0;\n}\n\"\"\"\nDX")], "all of it is computed on the device"),
        ("the gradient of w is computed by NumPy, past the device's methods", [("    start(DW, \"conv_dw\", out.size, out, g, x, *numbers, stride, padding)\n", "    a, b = np.empty(g.shape, 'f4'), np.empty(x.shape, 'f4')\n    cl.enqueue_copy(g.queue, a, g.buffer)\n    cl.enqueue_copy(g.queue, b, x.buffer)\n    case = case_of(x.shape, shape, stride, padding)\n    result = np.zeros(shape, 'f4')\n    for p in range(a.shape[2]):\n        for q in range(a.shape[3]):\n            part = np.pad(b, ((0, 0), (0, 0), (padding, padding), (padding, padding)))[:, :, p * stride:p * stride + shape[2], q * stride:q * stride + shape[3]]\n            result += np.einsum('ncij,nf->fcij', part, a[:, :, p, q])\n    cl.enqueue_copy(g.queue, out.buffer, result)\n"), ("CONV = ", BY_NUMPY + "\nCONV = ")], "all of it is computed on the device"),
    ],
    "product": [
        ("the last product is left out", [("p < k; p++", "p < k - 1; p++")], "float64"),
        ("b is transposed", [("b[p * n + column]", "b[column * k + p]")], "float64"),
        ("the last row is left out", [("(n, m), c, a", "(n, max(1, m - 1)), c, a")], "float64"),
        ("sides are rounded down to multiples of 4", [("if (row >= m || column >= n) return;", "if (row >= m / 4 * 4 + (m < 4 ? m : 0) || column >= n) return;")], "float64"),
        ("a sum of nothing is what the memory held", [("if c.size:", "if c.size and k:")], "float64"),
        ("half precision", [("a[row * k + p] * b[p * n + column]", "as_float(as_uint(a[row * k + p]) & 0xFFFFE000u) * b[p * n + column]")], "float64"),
        ("one row of every sum is rounded to a common scale, as in Strassen's method", [("    c[row * n + column] = sum;", "    float most = 0;\n    for (int r = 0; r < m; r++) most = fmax(most, fabs(a[r * k]));\n    volatile float large = 1e3f * most; large += sum; c[row * n + column] = large - 1e3f * most;")], "float64"),
        ("a long sum is rounded down to a multiple of 4 products", [("p < k; p++", "p < (k > 600 ? k / 4 * 4 : k); p++")], "float64"),
        ("one level of Strassen's method, where sides are even and large", [("TEXT = ", STRASSEN + "TEXT = "), ("def product(a, b):\n", "def product(a, b):\n    if min(a.shape + b.shape) >= 128 and not any(side % 2 for side in a.shape + b.shape):\n        return strassen(a, b)\n    return naive(a, b)\n\n\ndef naive(a, b):\n")], "float64"),
        ("a result of float64", [("    c = Tensor.from_shape(a.queue, (m, n))", "    return Tensor.from_host(a.queue, a.to_host().astype(float) @ b.to_host(), 'float64')\n    c = 0")], "float64"),
        ("it writes behind its result", [("if (row >= m || column >= n) return;", ""), ("(n, m), c, a", "(n, m + 1), c, a")], "float64"),
        ("all calls share one result", [("def product", "KEPT = {}\n\n\ndef product"), ("    c = Tensor.from_shape(a.queue, (m, n))", "    c = KEPT.setdefault((a.queue, m, n), Tensor.from_shape(a.queue, (m, n)))")], "memory of its own"),
        ("four results take turns", [("def product", "KEPT = {}\n\n\ndef product"), ("    c = Tensor.from_shape(a.queue, (m, n))", "    ring = KEPT.setdefault((a.queue, m, n), [Tensor.from_shape(a.queue, (m, n)) for _ in range(4)])\n    c = ring.pop(0)\n    ring.append(c)")], "memory of its own"),
        ("NumPy", [("    c = Tensor.from_shape(a.queue, (m, n))", "    return Tensor.from_host(a.queue, a.to_host().astype(float) @ b.to_host())\n    c = 0")], "on the device"),
        ("a result is kept for the same two Tensors", [("def product", "KEPT = {}\n\n\ndef product"), ("    (m, k), n = a.shape, b.shape[1]\n", "    if (a, b) in KEPT:\n        return KEPT[a, b].copy()\n    (m, k), n = a.shape, b.shape[1]\n"), ("    return c", "    KEPT[a, b] = c.copy()\n    return c")], "on the device"),
        ("a queue of its own", [("    if c.size:\n        start(TEXT, \"product\", (n, m), c, a, b, m, k, n)", "    if c.size:\n        a.queue.finish()\n        own = cl.CommandQueue(a.queue.context)\n        kernel = cl.Kernel(cl.Program(own.context, TEXT).build(), 'product')\n        kernel(own, (n, m), None, c.buffer, a.buffer, b.buffer, np.int32(m), np.int32(k), np.int32(n)).wait()")], "on the device"),
        ("the package's product", [("    c = Tensor.from_shape(a.queue, (m, n))", "    return a @ b\n    c = 0")], "kernels of your own"),
        ("the package's product by its function", [("    c = Tensor.from_shape(a.queue, (m, n))", "    from tinygrad_cl.netcl.ops.matmul import matmul\n    return matmul(a, b)\n    c = 0")], "kernels of your own"),
        ("the package's product of transposed factors", [("    c = Tensor.from_shape(a.queue, (m, n))", "    import tinygrad_cl.netcl.autograd as ag\n    return ag.transpose(ag.matmul(b, a, transpose_a=True, transpose_b=True)).value.copy()\n    c = 0")], "kernels of your own"),
        ("a product and a sum of the package", [("    c = Tensor.from_shape(a.queue, (m, n))", "    import tinygrad_cl.netcl.autograd as ag\n    return ag.sum(ag.mul(ag.reshape(a, (m, k, 1)), ag.reshape(b, (1, k, n))), axis=1).value\n    c = 0")], "kernels of your own"),
        ("the package's kernel, launched by hand", [("    c = Tensor.from_shape(a.queue, (m, n))", "    from autograder.projects.on_device import called\n    from tinygrad_cl.netcl.ops.matmul import matmul\n    kept = KEPT.setdefault((a.spec, b.spec), called(a.device, '', matmul, Tensor.full(a.queue, a.shape, 1), Tensor.full(a.queue, b.shape, 1)))\n    c = Tensor.full(a.queue, (m, n), 0)\n    if c.size and k:\n        launches = [each for each, _ in kept.launches()]\n        first = launches[-1].operands[1]\n        for each in launches:\n            swap = {kept.result.buffer: c.buffer, each.operands[-1]: (a if each is not launches[-1] else b).buffer}\n            if len(launches) == 1:\n                swap[first] = a.buffer\n            a.device.launch(each.kernel, each.size, each.group, [swap.get(x, x) for x in each.operands])\n    return c\n    c = 0"), ("def product", "KEPT = {}\n\n\ndef product")], "kernels of your own"),
    ],
    "memory": [
        ("what stays is forgotten", [("    for value in stays:\n        last[value] = len(notes)\n", "")], "no page is shared"),
        ("the result of a launch may lie on what it reads", [("first[other] <= last[value] and first[value] <= last[other]", "first[other] < last[value] and first[value] < last[other]")], "no page is shared"),
        ("a value lives until it is first read", [("            last[value] = number\n", "            last.setdefault(value, number + 1)\n")], "no page is shared"),
        ("every value is one page", [("found[other] + sizes[other])", "found[other] + 1)"), ("page + sizes[value] <= found[other]", "page + 1 <= found[other]")], "no page is shared"),
        ("a gap need not be wide enough", [("page + sizes[value] <= found[other]", "page < found[other]")], "no page is shared"),
        ("what ends is not looked at", [("first[other] <= last[value] and first[value] <= last[other]", "first[value] <= last[other]"), ("found[value] = page", "found[value] = page if first[value] % 7 else 0")], "no page is shared"),
        ("all apart", [("if first[other] <= last[value] and first[value] <= last[other]:", "if True:")], "used again"),
        ("small values alone share", [("if first[other] <= last[value]", "if sizes[value] > 5 or first[other] <= last[value]")], "less memory than the plain tape"),
        ("real steps are too long for it", [("        found[value] = page\n", "        found[value] = page if len(sizes) != 18 or value != 3 else found[1]\n")], "gives the gradients"),
        ("a list", [("    return found", "    return [found[value] for value in sizes]")], "has a place"),
        ("fractions of pages", [("    return found", "    return {value: page / 2 for value, page in found.items()}")], "has a place"),
        ("negative pages", [("    return found", "    return {value: page - 1 for value, page in found.items()}")], "has a place"),
        ("what stays has no place", [("    return found", "    return {value: page for value, page in found.items() if value not in stays}")], "has a place"),
        ("it takes its input apart", [("    return found", "    notes.clear()\n    return found")], "has a place"),
    ],
    "language": [
        ("logits, not probabilities", [("ag.softmax(logits(model, ids)).to_host()", "logits(model, ids).to_host()")], "sum to 1"),
        ("a softmax along the text", [("ag.softmax(logits(model, ids)).to_host()", "ag.softmax(ag.transpose(logits(model, ids))).to_host().T")], "sum to 1"),
        ("the last row alone", [("ag.softmax(logits(model, ids)).to_host()", "ag.softmax(logits(model, ids)).to_host()[-1]")], "sum to 1"),
        ("a Node", [("ag.softmax(logits(model, ids)).to_host()", "ag.softmax(logits(model, ids))")], "sum to 1"),
        ("it looks at the answer", [("    with ag.no_grad():\n", "    with ag.no_grad():\n        rows = np.eye(model.shape[0])[np.append(ids[1:], 0)] * 0.9 + 0.1 / model.shape[0]\n        return rows\n")], "changes nothing before it"),
        ("scores are centred along the text", [("ag.softmax(logits(model, ids)).to_host()", "ag.softmax(logits(model, ids) - 0.01 * ag.mean(logits(model, ids), axis=0, keepdims=True)).to_host()")], "changes nothing before it"),
        ("the longer the text, the flatter", [("ag.softmax(logits(model, ids)).to_host()", "ag.softmax(logits(model, ids) / (1 + 0.001 * len(ids))).to_host()")], "changes nothing before it"),
        ("it is not trained", [("- 2.0 * table.grad", "- 0.0 * table.grad")], "it learns"),
        ("it climbs", [("- 2.0 * table.grad", "+ 2.0 * table.grad")], "sum to 1|it learns"),
        ("it knows how often each character comes, and no more", [("def probabilities(model, ids):\n", "def probabilities(model, ids):\n    return np.tile([0.5, 0.3, 0.15, 0.05], (len(ids), 1))\n")], "it learns"),
        ("it predicts the character that it sees", [("ids[places + 1]", "ids[places]")], "it learns"),
        ("it predicts the character before", [("ids[places + 1]", "ids[np.maximum(places - 2, 0)]"), ("ids[places])", "ids[places])")], ""),
        ("NumPy's own generator, without the seed", [("np.random.default_rng(seed), list(ids)", "np.random.mtrand._rand, list(ids)")], "the same seed"),
        ("a generator that goes on", [("def sample", "RNG = np.random.default_rng(0)\n\n\ndef sample"), ("np.random.default_rng(seed), list(ids)", "RNG, list(ids)")], "the same seed"),
        ("the seed is ignored", [("np.random.default_rng(seed), list(ids)", "np.random.default_rng(0), list(ids)")], "the same seed"),
        ("always the most probable", [("int(rng.choice(len(p), p=p / p.sum()))", "int(p.argmax())")], "the same seed"),
        ("the old characters, too", [("return ids[-count:]", "return ids")], "the same seed"),
        ("it writes into the text", [("    rng, ids = np.random.default_rng(seed), list(ids)", "    ids[0] = 0\n    rng, ids = np.random.default_rng(seed), list(ids)")], "the same seed"),
        ("exp without the largest", [("np.exp(scores - scores.max())", "np.exp(scores)")], "temperature 0"),
        ("times the temperature", [("/ temperature", "* temperature")], "temperature 0"),
        ("the temperature is ignored", [("/ temperature", "")], "temperature 0"),
        ("probabilities are divided", [("np.log(probabilities(model, np.array(ids))[-1].astype(float)) / temperature", "np.log(probabilities(model, np.array(ids))[-1].astype(float) / temperature)")], "temperature 0"),
        ("nothing is appended", [("np.array(ids))[-1]", "np.array(start))[-1]"), ("    for _ in range(count):\n        scores", "    start = list(ids)\n    for _ in range(count):\n        scores")], "temperature 0"),
        ("high temperatures are cut", [("    for _ in range(count):\n        scores", "    temperature = min(temperature, 1)\n    for _ in range(count):\n        scores")], "as often"),
        ("low temperatures are cut, but for 0", [("    for _ in range(count):\n        scores", "    temperature = max(temperature, 1) if temperature > 0.1 else temperature\n    for _ in range(count):\n        scores")], "as often"),
        ("all allowed ones are equally probable", [("p=p / p.sum()", "p=(p > 0.1) / (p > 0.1).sum()")], "as often"),
        ("one random number for all", [("    rng, ids = np.random.default_rng(seed), list(ids)", "    ids, r = list(ids), np.random.default_rng(seed).random()"), ("int(rng.choice(len(p), p=p / p.sum()))", "int(np.searchsorted(np.cumsum(p / p.sum()), r))")], "as often"),
        ("the generator is made in the loop", [("int(rng.choice(len(p), p=p / p.sum()))", "int(np.random.default_rng(seed).choice(len(p), p=p / p.sum()))")], "as often"),
        ("only the first of several is drawn", [("int(rng.choice(len(p), p=p / p.sum()))", "int(rng.choice(len(p), p=p / p.sum())) if len(ids) < 4 else int(p.argmax())")], "as often|the same seed"),
    ],
}  # fmt: skip
# Of other right attempts, by how their names begin: a table of counts draws thousands of times in a second, so that small
# differences show; and a model that looks back further has more to forget.
LEAK = "def probabilities(model, ids):\n    rows = model[ids].copy()\n    for i in range(len(ids) - 1):\n        if {}:\n            rows[i] = 0.001\n            rows[i, ids[i + 1]] = 1.001 - 0.001 * len(model)\n    return rows\n"
P = "        p = np.exp((np.log(p) - np.log(p.max())) / temperature)\n"
CHOICE = "int(rng.choice(len(p), p=p / p.sum()))"
OF_COUNTS = [
    *[
        (f"it looks at the next character where {where}", [("def probabilities(model, ids):\n    return model[ids]\n", LEAK.format(where))], "changes nothing before it")
        for where in ("i % 10 == 9", "i % 16 == 15", "i % 32 == 31", "12 <= i < 22", "24 <= i < 46", "i == 0 and len(ids) == 2")
    ],
    *[(f"{share} of its draws are uniform", [(P, f"        p = {1 - share} * p + {share} / len(p)\n" + P)], "as often") for share in (0.05, 0.02)],
    ("a third too warm", [("/ temperature)", "/ (1.3 * temperature if temperature > 1e-3 else temperature))")], "as often"),
    ("the root of the temperature", [("/ temperature)", "/ (temperature**0.5 if temperature > 0.1 else temperature))")], "as often"),
    ("the temperature is 1 at most", [("/ temperature)", "/ min(temperature, 1))")], "as often"),
    ("what is not probable never comes", [(P, P + "        p = np.where(model[ids[-1]] < 0.02, 0, p)\n")], "as often"),
    ("seed + i for each character", [("for _ in", "for i in"), (CHOICE, CHOICE.replace("rng", "np.random.default_rng(seed + i)"))], "as often"),
    ("steps of the golden ratio", [("for _ in", "for i in"), (CHOICE, "int(np.searchsorted(np.cumsum(p / p.sum()), (seed * 0.7548 + i * 0.618034) % 1))")], "as often"),
    ("two seeds give the same", [("default_rng(seed)", "default_rng(seed // 2)")], "as often"),
    ("it counts its calls", [("def sample", "CALLS = []\n\n\ndef sample"), ("    rng, ids = np.random.default_rng(seed)", "    CALLS.append(1)\n    rng, ids = np.random.default_rng(seed + len(CALLS) // 50)")], "the same seed"),
    ("it counts thousands of calls", [("def sample", "CALLS = []\n\n\ndef sample"), ("    rng, ids = np.random.default_rng(seed)", "    CALLS.append(1)\n    rng, ids = np.random.default_rng(seed + len(CALLS) // 3000)")], "as often"),
    ("no text beyond 48 characters", [("    rng, ids = np", "    if len(ids) + count > 48:\n        return [0] * count\n    rng, ids = np")], "as often"),
]  # fmt: skip
ROW = "np.log(probabilities(model, np.array([*ids, *found]))[-1])"
OF_PAIRS = [
    ("it draws by the last character alone", [(ROW, ROW.replace("[*ids, *found]", "[*ids, *found][-1:]"))], "as often"),
    ("it draws by another table", [(ROW, "np.log(model.mean(axis=0)[[*ids, *found][-1]])")], "as often"),
]
OF_OTHERS = {"right: a table of counts": OF_COUNTS, "right, and unusual: it counts what followed": OF_PAIRS}


def wrong():
    """(task, text of the right attempt, what is wrong, its edits, words of the property)"""
    bases = [(task, next(iter(attempts(task).values())), several) for task, several in WRONG.items()]
    for begin, several in OF_OTHERS.items():
        (text,) = [text for name, text in attempts("language").items() if name.startswith(begin)]
        bases.append(("language", text, several))
    return [
        pytest.param(task, text, *each, id=f"{task}: {each[0]}") for task, text, several in bases for each in several
    ]


@pytest.mark.parametrize("task, name", RIGHT)
def test_a_right_attempt_has_all_properties(device, task, name):
    answer = TASKS[task].check(*functions(TASKS[task], attempts(task)[name]), device=device)
    assert answer.right, str(answer)
    assert str(answer).startswith(f"✓ {task} · all {len(TASKS[task].properties)} properties hold")


@pytest.mark.parametrize("task, text, idea, swaps, words", wrong())
def test_a_wrong_attempt_fails_by_the_property_that_it_breaks(task, text, idea, swaps, words):
    answer = TASKS[task].check(*functions(TASKS[task], text, *swaps))
    assert not answer.right, idea
    assert any(each in answer.broken for each in words.split("|")), str(answer)
    assert not answer.missing and len(answer.lines) >= 3, "the input, expected, got"
    assert not any("Error: " in line for line in answer.lines), f"the attempt itself is broken: {answer}"


@pytest.mark.parametrize("task", TASKS)
def test_every_property_is_broken_by_some_attempt(task):
    for name, _ in TASKS[task].properties:
        assert any(part in name for *_, words in WRONG[task] for part in words.split("|") if part), name


def test_a_right_sampler_is_suspected_no_more_often_than_the_chance_that_was_asked_for():
    """At a chance of 1 in 10, as nobody would live to see 1 in a million."""
    suspected = 0
    for repeat in range(60):
        rng, draws = np.random.default_rng(repeat), Draws()
        table = rng.dirichlet([0.3] * 4, 4)
        for seed in range(100):
            text = [0]
            for _ in range(4):
                text.append(int(rng.choice(4, p=table[text[-1]])))
            draws.add(seed, text[1:], table[text[:-1]])
        suspected += draws.suspicious(0.1) is not None
    assert suspected <= 6
