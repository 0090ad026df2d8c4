"""What all generated OpenCL C has in common: the names of types, macros, the compiler's options."""

import re

from tinygrad_cl.netcl.ops.primitives import PRELUDE

C_NAMES = {"float32": "float", "float64": "double", "int32": "int"}


def block(head, lines):
    """The lines in braces, after a head such as `for (…)`."""
    return [f"{head} {{".lstrip(), *[f"    {line}" for line in lines], "}"]


def settings(dtype, lanes, text=None):
    """The lines before a kernel: T, the number type, and the C macros of expressions.

    text   the kernel, if it computes with vectors of `lanes` alone: then only what it uses
    """
    double = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" if dtype == "float64" else ""
    macros = {line[len("#define ") : line.index("(")]: line for line in PRELUDE.strip().splitlines()}
    widths = {lanes} if text else {1, lanes}
    macros["TANH"] = tanh(dtype, widths)
    macros |= {name: lane_by_lane(name, dtype, widths) for name in ("SIN", "COS")}
    lines = [line for name, line in macros.items() if text is None or re.search(rf"\b{name}\b", text)]
    return f"{double}#define T {C_NAMES[dtype]}\n#define LANES {lanes}\n" + "\n".join([*lines, ""])


def lane_by_lane(name, dtype, widths):
    """SIN(a) or COS(a) in C, of vectors of these widths: as the driver has it, lane by lane where one
    is huge. In PoCL's sin of float16, all lanes are wrong then (by up to 0.01).
    """
    function, text = name.lower(), f"#define {name}(a) {name.lower()}_(a)\n"
    if widths == {1} or dtype == "int32":
        return f"#define {name}(a) {function}(a)"
    for width in sorted(widths):
        kind = f"{C_NAMES[dtype]}{width if width > 1 else ''}"
        lines = [f"return {function}(x);"]
        if width > 1:
            each = [f"T each[{width}];", f"vstore{width}(x, 0, each);"]
            each += [
                f"for (int i = 0; i < {width}; i++) each[i] = {function}(each[i]);",
                f"return vload{width}(0, each);",
            ]
            lines = [*block("if (any(fabs(x) > (T)1e5))", each), *lines]
        head = f"static {kind} __attribute__((overloadable)) {function}_(const {kind} x)"
        text += "\n".join(block(head, lines)) + "\n"
    return text


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
