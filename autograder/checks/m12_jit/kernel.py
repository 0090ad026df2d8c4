"""Check 3 of lesson 12: the frame of a kernel, written by Python."""

import numpy as np

from autograder.checks.check import check


@check("jit.kernel", points=3, rtol=1e-5, atol=1e-5, seconds=40)
def kernel(student, rng, tools):
    """Kernels with three inputs and two outputs, and with one of each, run between margins."""
    from tinygrad_cl.opencl.kernels import launch
    from tinygrad_cl.opencl.trial import try_kernel

    n = int(rng.integers(18, 24))
    a, b, c = (rng.normal(size=n).astype(np.float32) for _ in range(3))
    inputs, lines, outputs = (
        ["v0", "v1", "g"],
        ["const V sub_3 = v0 - v1;", "V up = sub_3 * g;", "up += v1;"],
        ["up", "sub_3"],
    )
    before = [list(inputs), list(lines), list(outputs)]
    many = lambda: student.SETTINGS + student.kernel_text("several", inputs, lines, outputs)
    single = lambda: student.SETTINGS + student.kernel_text("single", ["v0"], ["const V neg_1 = -v0;"], ["neg_1"])
    copied = lambda: student.SETTINGS + student.kernel_text("copied", ["v0"], [], ["v0"])
    memo = {}

    def several(place):
        if not memo:
            memo["out"] = launch(
                many(), "several", a, b, c, np.zeros(n, np.float32), np.zeros(n, np.float32), n, work_items=n
            )
        return memo["out"][place]

    def guarded():
        """More work-items than numbers, in groups: the numbers, and what happened to memory."""
        if "guarded" not in memo:
            memo["guarded"] = try_kernel(single(), "single", a, None, n, result=n, work_items=32, local_size=8)
        return memo["guarded"]

    def part():
        """Only the work-items from 8 on: the first 8 numbers of the result stay as they were."""
        return try_kernel(single(), "single", a, None, n, result=n, work_items=8, local_size=8, offset=8)[0]

    def untouched():
        first, second = many(), many()
        return [first == second, inputs == before[0], lines == before[1], outputs == before[2]]

    return {
        "input": f"three inputs v0, v1, g and outputs up, sub_3, with the lines {' '.join(lines)}; n = {n}",
        "the first output": lambda: several(3),
        "the second output": lambda: several(4),
        "the inputs afterwards": lambda: [*several(0), *several(1), *several(2)],
        "one input, one output": lambda: guarded()[0],
        "more work-items than n: memory": lambda: guarded()[1],
        "work-items 8 to 15 alone": part,
        "no lines: an input is stored": lambda: launch(copied(), "copied", a, np.zeros(n, np.float32), n, work_items=n)[
            1
        ],
        "the kernel's name is in the text; as many { as }, at least one": lambda: [
            "several" in student.words([many()]),
            (text := student.kernel_text("single", ["v0"], [], ["v0"])).count("{") == text.count("}") > 0,
        ],
        "the lists afterwards, and a second call": untouched,
    }


GUARD = '"if (i >= n) return;"'
kernel.mistake(
    "there is no guard", swap=(f", {GUARD}", ""), hint=["More than n work-items may start.", "`if (i >= n) return;`"]
)
kernel.mistake(
    "the guard lets one too many pass", swap=("i >= n", "i > n"), hint="Number n is one too many: the last is n − 1."
)
kernel.mistake(
    "outputs stand before inputs in the parameters",
    source="""
def kernel_text(name, inputs, lines, outputs):
    parameters = [f"__global float *out_{each}" for each in outputs]
    parameters += [f"__global const float *in_{each}" for each in inputs]
    body = ["const int i = get_global_id(0);", "if (i >= n) return;"]
    body += [f"const V {each} = in_{each}[i];" for each in inputs]
    body += lines
    body += [f"out_{each}[i] = {each};" for each in outputs]
    indented = "".join(f"    {line}\\n" for line in body)
    return f"__kernel void {name}({', '.join([*parameters, 'const int n'])})\\n{{\\n{indented}}}\\n"
""",
    hint="Inputs first, then outputs, then n.",
)
kernel.mistake(
    "n comes first",
    swap=("[*parameters, 'const int n']", "['const int n', *parameters]"),
    hint="Inputs, outputs, and n last.",
)
kernel.mistake("the kernel is always called fused", swap=("void {name}(", "void fused("), hint="`name` is an argument.")
kernel.mistake(
    "only the first output is stored",
    swap=('= {each};" for each in outputs]', '= {each};" for each in outputs[:1]]'),
    hint="A kernel may have several outputs: one for each gradient.",
)
kernel.mistake(
    "every work-item has number 0", swap=("= get_global_id(0)", "= 0"), hint="Which number is mine? `get_global_id(0)`."
)
kernel.mistake(
    "the number is that within the group",
    swap=("get_global_id(0)", "get_local_id(0)"),
    hint="The local number begins anew in each group.",
)
kernel.mistake(
    "inputs are loaded under the names v0, v1, … whatever they are called",
    swap=(
        '[f"const V {each} = in_{each}[i];" for each in inputs]',
        '[f"const V v{k} = in_{each}[i];" for k, each in enumerate(inputs)]',
    ),
    hint="The lines use the names in `inputs`, for instance `g`.",
)
kernel.mistake(
    "the lines are left out", swap=("    body += lines\n", ""), hint="Between load and store stand the lines."
)
kernel.mistake(
    "the caller's list of lines grows",
    swap=[
        ('    body = ["const', '    lines[:0] = ["const'),
        (
            '    body += [f"const V {each} = in_{each}[i];" for each in inputs]\n    body += lines\n',
            '    lines[2:2] = [f"const V {each} = in_{each}[i];" for each in inputs]\n    body = lines\n',
        ),
    ],
    hint=["Whoever gave you the list will use it again.", "`body = [...]; body += lines` changes body alone."],
)
kernel.mistake(
    "outputs are added to what is there",
    swap=('[i] = {each};" for each in outputs', '[i] += {each};" for each in outputs'),
    hint="New memory holds anything. A result is stored with `=`.",
)
kernel.mistake(
    "each input is loaded from place 0", swap=("in_{each}[i]", "in_{each}[0]"), hint="Work-item i loads number i."
)
kernel.mistake(
    "braces: in an f-string two of them stand for one",
    swap=(")\\n{{\\n{indented}}}\\n", ")\\n{indented}\\n"),
    hint="The body of a C function stands between braces: `{{` and `}}` in an f-string.",
)
kernel.mistake(
    "the last output is stored everywhere",
    swap=('[i] = {each};" for each in outputs', '[i] = {outputs[-1]};" for each in outputs'),
    hint="Each output has its own value.",
)
kernel.mistake(
    "a pointer and the number loaded from it have the same name",
    swap=[("in_{each}", "{each}"), ("out_{each}", "{each}")],
    hint=["`const V v0 = v0[i];`: two things of one name.", "Call the pointers in_v0 and out_mul_6, for instance."],
)
kernel.variant(
    "one text, a guard around, pointers by number",
    source="""
def kernel_text(name, inputs, lines, outputs):
    text = "__kernel void " + name + "("
    for number, _ in enumerate(inputs):
        text += f"__global const float *a{number}_, "
    for number, _ in enumerate(outputs):
        text += f"__global float *b{number}_, "
    text += "const int n) { size_t place = get_global_id(0); if (place < n) { "
    for number, each in enumerate(inputs):
        text += f"float {each} = a{number}_[place]; "
    text += " ".join(lines) + " "
    for number, each in enumerate(outputs):
        text += f"b{number}_[place] = {each}; "
    return text + "} }"
""",
)
kernel.variant(
    "a template",
    source='''
def kernel_text(name, inputs, lines, outputs):
    template = """__kernel void NAME(PARAMETERS)
{
    int me = get_global_id(0);
    if (me >= n)
        return;
    BODY
}
"""
    parameters = ", ".join(["__global const float *restrict from_" + x for x in inputs] + ["__global float *to_" + x for x in outputs] + ["const int n"])
    steps = [f"V {x} = from_{x}[me];" for x in inputs] + list(lines) + [f"to_{x}[me] = {x};" for x in outputs]
    return template.replace("NAME", name).replace("PARAMETERS", parameters).replace("BODY", "\\n    ".join(steps))
''',
)
