"""OpenCL C of elementwise kernels, generated from expressions.

`flat` kernels walk one line of numbers; each work-item takes a vector of them, and the last one
what is left.
`rows` kernels broadcast: each operand walks the shape of the result with strides of its own, 0
where it repeats.
"""

import re

from tinygrad_cl.netcl.ops.primitives import PRELUDE

C_NAMES = {"float32": "float", "float64": "double", "int32": "int"}


def settings(dtype, lanes, text=None):
    """The lines before a kernel: T, the number type, and the C macros of expressions.

    text   the kernel, if it computes with vectors of `lanes` alone: then only what it uses
    """
    double = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" if dtype == "float64" else ""
    macros = {line[len("#define ") : line.index("(")]: line for line in PRELUDE.strip().splitlines()}
    macros["TANH"] = tanh(dtype, {lanes} if text else {1, lanes})
    lines = [line for name, line in macros.items() if text is None or re.search(rf"\b{name}\b", text)]
    return f"{double}#define T {C_NAMES[dtype]}\n#define LANES {lanes}\n" + "\n".join([*lines, ""])


def tanh(dtype, widths):
    """TANH(a) in C, of vectors of these widths: for float32 a rational function, for float64 what the driver has.

    tanh x = s / (1 + s²/4) with s = 2 tanh(x/2) = x P(x²) / Q(x²): close to 1, an error in s hardly
    matters, so that small degrees will do. P and Q are fitted to the least relative error up to
    x = 9.1; in float32, tanh is 1 from 9.02 on. Over all floats the relative error is below 3e-7.
    Close to 0 as well, where a tanh made of eˣ has no right digit left; odd; NaN stays NaN. On PoCL
    it takes a third of the driver's time: 1.8 ns for 16 numbers instead of 5.2.
    """
    if dtype != "float32":
        return "#define TANH(a) tanh(a)"
    kinds = ["float" if width == 1 else f"float{width}" for width in sorted(widths)]
    return "#define TANH(a) rational_tanh(a)\n" + "".join(
        f"""
static {kind} __attribute__((overloadable)) rational_tanh(const {kind} x) {{
    const {kind} a = fabs(x), t = a * a;
    const {kind} p = 1 + t * (0.028353658f + t * (7.6747659e-5f - t * 6.9139773e-8f));
    const {kind} q = 1 + t * (0.11168692f + t * 1.0507257e-3f);
    const {kind} s = a * (p / q), y = s / (1 + 0.25f * s * s);
    return copysign((a > 9.02f) | (y > 1) ? ({kind})(1) : y, x);  // t may be infinite
}}
"""
        for kind in kinds
    )


def vector_settings(dtype, lanes):
    """The lines that say what V is in a whole kernel, and how it is fetched and stored; `put`
    stores no more numbers than are left.
    """
    if lanes == 1:
        return (
            "#define V T\n#define LOAD(p) (*(p))\n#define STORE(v, p) (*(p) = (v))\n"
            "void put(const T v, __global T *p, const long left) { if (left > 0) *p = v; }\n"
        )
    return f"""#define V {C_NAMES[dtype]}{lanes}
#define LOAD(p) vload{lanes}(0, p)
#define STORE(v, p) vstore{lanes}(v, 0, p)
void put(const V v, __global T *p, const long left) {{
    if (left >= LANES) {{
        STORE(v, p);
    }} else {{
        T numbers[LANES];
        STORE(v, numbers);
        for (int i = 0; i < left; i++) p[i] = numbers[i];
    }}
}}
"""


def options(dtype):
    """The compiler's options: a constant such as 2.0 in an expression is a float in float32
    kernels.
    """
    return ("-cl-single-precision-constant",) if dtype == "float32" else ()


def kernel_name(formula):
    """A name that no function of OpenCL C has: `exp` is taken."""
    return f"{formula.name}_kernel"


def parameter(number, operand):
    """The declaration of an input: a number, or a buffer of its own dtype."""
    if operand.dtype is None:
        return f"const T x{number}"
    return f"__global const {C_NAMES[operand.dtype]} *x{number}"


def load(number, operand, dtype, lanes, place):
    """The line that fetches v0, v1, …: see `value`."""
    return f"const V v{number} = {value(number, operand, dtype, lanes, place)};"


def value(number, operand, dtype, lanes, place):
    """An input in C: a number for all lanes, or a vector that begins at `place`."""
    vector = lanes > 1 and operand.step == 1
    if operand.dtype is None:
        return f"(V)(x{number})"
    if not vector:
        at = {0: "0", 1: place, None: f"({place}) * step{number}"}[operand.step]
        return f"(V)((T)x{number}[{at}])"
    whole = f"vload{lanes}(0, x{number} + {place})"
    return whole if operand.dtype == dtype else f"convert_{C_NAMES[dtype]}{lanes}({whole})"


def body(formula, operands, dtype, lanes, place):
    """The lines that compute all outputs at `place`, as vectors of `lanes` or as single numbers."""
    kind = f"{C_NAMES[dtype]}{lanes if lanes > 1 else ''}"
    lines = [load(number, operand, dtype, lanes, place) for number, operand in enumerate(operands)]
    for number, expression in enumerate(formula.expressions):
        lines.append(
            f"vstore{lanes}({expression}, 0, out{number} + {place});"
            if lanes > 1
            else f"out{number}[{place}] = {expression};"
        )
    return f"\n#undef V\n#define V {kind}\n        " + "\n        ".join(lines) + "\n"


def whole_and_rest(formula, operands, dtype, lanes, length):
    """A whole vector from i on where there is one, else the numbers that are left, one by one."""
    if lanes == 1:
        return f"    if (i < {length}) {{{body(formula, operands, dtype, 1, 'i')}    }}\n"
    vector, number = (body(formula, operands, dtype, width, place) for width, place in ((lanes, "i"), (1, "j")))
    return (
        f"    if (i + LANES <= {length}) {{{vector}    }} else {{\n"
        f"        for (long j = i; j < {length}; j++) {{{number}        }}\n    }}\n"
    )


def flat_source(formula, operands, dtype, lanes):
    """A kernel over n numbers. Arguments: n, the outputs, the inputs."""
    parameters = [
        "const long n",
        *[f"__global T *out{number}" for number in range(len(formula.expressions))],
        *[parameter(number, operand) for number, operand in enumerate(operands)],
    ]
    return (
        f"{settings(dtype, lanes)}"
        f"__kernel void {kernel_name(formula)}({', '.join(parameters)}) {{\n"
        f"    const long i = (long)get_global_id(0) * LANES;\n"
        f"{whole_and_rest(formula, operands, dtype, lanes, 'n')}}}\n"
    )


def rows_source(formula, operands, dtype, lanes, outer):
    """A kernel over rows of n numbers, one for each place on `outer` axes.

    Arguments: n, the lengths of the outer axes; for each buffer its strides along them, and along a
    row where that
    is neither 0 nor 1; the outputs, the inputs.
    """
    buffers = [(number, operand) for number, operand in enumerate(operands) if operand.dtype]
    parameters = ["const long n", *[f"const long n{axis}" for axis in range(outer)]]
    for number, operand in buffers:
        parameters += [f"const long s{number}_{axis}" for axis in range(outer)]
        parameters += [f"const long step{number}"] if operand.step is None else []
    parameters += [f"__global T *out{number}" for number in range(len(formula.expressions))]
    parameters += [parameter(number, operand) for number, operand in enumerate(operands)]
    lines = ["long row = get_global_id(1);"]
    if outer:
        lines += [f"if (row >= {' * '.join(f'n{axis}' for axis in range(outer))}) return;"]
    lines += [f"out{number} += row * n;" for number in range(len(formula.expressions))]
    for axis in reversed(range(outer)):  # the place of this row along each outer axis
        lines += [f"const long i{axis} = row % n{axis};  row /= n{axis};"]
        lines += [f"x{number} += i{axis} * s{number}_{axis};" for number, _ in buffers]
    return (
        f"{settings(dtype, lanes)}"
        f"__kernel void {kernel_name(formula)}({', '.join(parameters)}) {{\n"
        "    const long i = (long)get_global_id(0) * LANES;\n    " + "\n    ".join(lines) + "\n"
        f"{whole_and_rest(formula, operands, dtype, lanes, 'n')}}}\n"
    )
