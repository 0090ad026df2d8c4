"""Check 3 of lesson 12: the frame of a kernel, written by Python."""

import numpy as np

from autograder.checks.cases import Draft, Source
from autograder.checks.check import exercise


def texts(student, case):
    return {
        "text": student.kernel_text(case.name, case.inputs, case.lines, case.outputs),
        "settings": student.SETTINGS,
    }


kernel = exercise(
    "jit.kernel", "The text of a kernel: it loads inputs, computes lines, and stores outputs.", seconds=40, texts=texts
)

KERNELS = (
    ("single", ["v0"], ["const V neg_1 = -v0;"], ["neg_1"]),
    ("several", ["v0", "v1", "g"], ["const V sub_3 = v0 - v1;", "V up = sub_3 * g;", "up += v1;"], ["up", "sub_3"]),
    ("copied", ["v0"], [], ["v0"]),
    ("fused_backward", ["g", "v0"], ["V g_v0 = v0 * v0;", "V g_g = 2 * g;", "g_g -= g_v0;"], ["g_v0", "g_g"]),
    ("twice", ["a", "b"], [], ["b", "a"]),
)


def kernels(group):
    """Work-items start in groups: in groups of one as many as there are numbers, in larger ones some more."""

    def draft(kernel, n, rng):
        given = dict(zip(("name", "inputs", "lines", "outputs"), kernel))
        arrays = [(rng.permutation(40)[:n] / 10 - 2).astype(np.float32) for _ in given["inputs"]]
        tags = ["there are several outputs"] * (len(kernel[3]) > 1) + ["there are no lines"] * (not kernel[2])
        return Draft(given | {"arrays": arrays, "n": n, "group": group}, tuple(tags))

    return Source(
        lambda rng: [draft(kernel, n, rng) for kernel, n in zip(KERNELS, (3, 9, 22, 5, 14))],
        lambda rng: draft(KERNELS[rng.integers(5)], int(2 * rng.integers(1, 15) + 1), rng),
    )


def stored(student, case):
    import re

    from tinygrad_cl.opencl.trial import tried

    text, word = student.text, r"[A-Za-z_]\w*"
    body, sizes = text[text.index("{") :], (case.n,) * len(case.outputs)
    arguments, work_items = [*case.arrays, *[None] * len(sizes), case.n], -(-case.n // case.group) * case.group
    return {
        "its name": case.name in re.findall(word, text),
        "braces": text.count("{") - text.count("}"),
        "n is asked before an array is read": case.group == 1 or "n" in re.findall(word, body[: body.index("[")]),
        "found": lambda: tried(
            student.settings + text, case.name, *arguments, result=sizes, work_items=work_items, local_size=case.group
        ),
    }


NEAR = {"few": 7, "many": 14, "rtol": 1e-5, "atol": 1e-5}
kernel.watch(kernels(4).where(lambda name: name == "several"))(stored)
kernel.aspect("what the kernel stores", 2, cases=kernels(1), **NEAR)(stored)
kernel.aspect("groups, and work-items beyond n", 1, corner=True, cases=kernels(4), **NEAR)(stored)

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
