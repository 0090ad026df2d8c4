"""The public names of engine 3's operations, as files that are generated from their records and from `__all__` of its modules.

An operation of the table has its name once, in its record (`netcl/ops/table.py`). Editors, grep and type checkers find it in what
this module writes: a function in `autograd.elementwise`, a layer in `nn.activations`, and the packages that offer both.
"""

import ast
import math
from pathlib import Path
from typing import TYPE_CHECKING

from autograder import paths

if TYPE_CHECKING:
    from tinygrad_cl.netcl.ops.primitives import Primitive

PACKAGE = "tinygrad_cl.netcl"
MADE = "Generated from the records in netcl/ops/table.py by `make notebooks`: edit those."
OFFERED = "Generated from `__all__` of its modules by `make notebooks`: edit those."
GROUND = "modes node tape".split()
AUTOGRAD = "compiled_graph debug elementwise indexing jit linear losses node normalization ops trace".split()
LAYERS = "activation activations basic module".split()
FUNCTIONS = "cross_entropy embedding layer_norm linear log_softmax mse_loss softmax".split()  # beside the activations


def generated() -> dict[Path, str]:
    """The generated files, {path: text}."""
    from tinygrad_cl.netcl.ops import table  # noqa: F401 (fills the table)
    from tinygrad_cl.netcl.ops.primitives import PRIMITIVES

    records = sorted(PRIMITIVES.values(), key=lambda record: record.name)
    files = {"autograd/elementwise.py": functions(records), "nn/activations.py": layers(records)}
    public = {name: names_in(ast.parse(text)) for name, text in files.items()}
    autograd = {f"autograd.{part}": exported(f"autograd/{part}.py", public) for part in AUTOGRAD}
    layer = {f"nn.{part}": exported(f"nn/{part}.py", public) for part in LAYERS}
    activations = [record.name for record in records if record.layers]
    aliases = {alias: record.name for record in records for alias in record.aliases}
    files["autograd/__init__.py"] = offers(
        "Automatic differentiation on the device, under netcl's names: `import tinygrad_cl.netcl.autograd as ag`.",
        autograd
        | {f"tape.{part}": exported(f"tape/{part}.py", public) for part in GROUND}
        | {"ops.primitives": ["register_primitive"]},
    )
    files["nn/layers.py"] = offers(
        "All layers, under the name that netcl has for them.",
        {part: [name for name in names if name[0].isupper() and name != "Activation"] for part, names in layer.items()},
    )
    files["nn/functional.py"] = offers(
        "Layers as functions: those that keep nothing between two calls.",
        {
            "autograd": sorted(activations + FUNCTIONS),
            "nn.attention": ["scaled_dot_product_attention"],
            "nn.basic": ["dropout"],
        },
        aliases,
    )
    files["nn/__init__.py"] = offers(
        "Layers and models, under netcl's names: `import tinygrad_cl.netcl.nn as nn`.",
        {
            "core.parameter": ["Parameter"],
            "nn": ["functional", "init"],
            "nn.attention": ["MultiheadAttention", "TransformerBlock"],
            "nn.init": ["manual_seed"],
        }
        | {part: [name for name in names if name != "dropout"] for part, names in layer.items()},
    )
    return {paths.ROOT / "tinygrad_cl" / "netcl" / name: text for name, text in files.items()}


def stale() -> list[str]:
    """A sentence for each generated file that is not what the records give."""
    return [
        f"{path.relative_to(paths.ROOT)} is not what the records of the operations give"
        for path, text in generated().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def write() -> list[Path]:
    """Write the files that have changed, and return their paths."""
    changed = [path for path, text in generated().items() if not path.exists() or path.read_text("utf-8") != text]
    for path in changed:
        path.write_text(generated()[path], encoding="utf-8")
    return changed


def functions(records: list["Primitive"]) -> str:
    """autograd/elementwise.py: a function of Nodes for each record."""
    parts = [
        f'"""The elementwise operations as functions of Nodes, Tensors, arrays and numbers.\n\n{MADE}\n"""',
        "import math" if any("math." in signature(record) for record in records) else "",
        "from tinygrad_cl.netcl.autograd.node import apply_primitive",
        listing([record.name for record in records]),
    ]
    return "\n\n".join(filter(None, parts)) + "".join(f"\n\n\n{function(record)}" for record in records) + "\n"


def function(record: "Primitive") -> str:
    given = "".join(f", {key}={key}" for key in record.attrs)
    return (
        f"def {record.name}({signature(record)}):\n"
        f'    """{record.formula}"""\n'
        f'    return apply_primitive("{record.name}", {", ".join(record.inputs)}, tape=tape{given})'
    )


def signature(record: "Primitive") -> str:
    """The parameters of a record's function: its inputs, its constants with their defaults, and the tape."""
    return ", ".join([*record.inputs, *(f"{key}={number(value)}" for key, value in record.attrs.items()), "tape=None"])


def number(value: float) -> str:
    """A number as Python code.

    >>> number(0.01), number(-math.inf)
    ('0.01', '-math.inf')
    """
    return repr(value) if math.isfinite(value) else f"{'-' * (value < 0)}math.inf"


def layers(records: list["Primitive"]) -> str:
    """nn/activations.py: a class for each record that has a layer."""
    classes = sorted((record.layers[0], record) for record in records if record.layers)
    aliases = {alias: name for name, record in classes for alias in record.layers[1:]}
    text = f'"""The elementwise operations that are layers.\n\n{MADE}\n"""\n\n'
    text += "from tinygrad_cl.netcl.nn.activation import Activation\n\n"
    text += listing(sorted([*(name for name, _ in classes), *aliases]))
    for name, record in classes:
        constants = "".join(f"; {key}={number(value)} by default" for key, value in record.attrs.items())
        text += (
            f'\n\n\nclass {name}(Activation):\n    """{record.formula}{constants}"""\n\n    primitive = "{record.name}"'
        )
    return text + "\n\n\n" + assigned(aliases)


def offers(title: str, parts: dict[str, list[str]], aliases: dict[str, str] | None = None) -> str:
    """A module that offers names of others: {part of the package: names}, and further names for some of them."""
    imports = [
        f"from {PACKAGE}.{part} import (\n" + "".join(f"    {name},\n" for name in sorted(names)) + ")"
        for part, names in sorted(parts.items())
    ]
    names = sorted([*(name for names in parts.values() for name in names), *(aliases or {})])
    text = f'"""{title}\n\n{OFFERED}\n"""\n\n' + "\n".join(imports) + "\n\n" + listing(names) + "\n"
    return text + ("\n" + assigned(aliases) if aliases else "")


def listing(names: list[str]) -> str:
    return "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]"


def assigned(aliases: dict[str, str]) -> str:
    return "".join(f"{alias} = {name}\n" for alias, name in aliases.items())


def exported(file: str, made: dict[str, list[str]]) -> list[str]:
    """`__all__` of a module of engine 3, which is not imported: it may import what is to be written."""
    if file in made:
        return made[file]
    return names_in(ast.parse((paths.ROOT / "tinygrad_cl" / "netcl" / file).read_text(encoding="utf-8")))


def names_in(tree: ast.Module) -> list[str]:
    """The list that a module assigns to `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return ast.literal_eval(node.value)
    return []
