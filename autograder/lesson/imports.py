"""What a source imports, read off its syntax."""

import ast


def names_imported(source: str | ast.AST) -> set[str]:
    """The dotted names that a source, or its syntax tree, imports, anywhere in it: by `import`, `from`, `__import__("…")` or
    `import_module("…")`.
    """
    names = set()
    for node in ast.walk(ast.parse(source) if isinstance(source, str) else source):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            if getattr(node.func, "attr", getattr(node.func, "id", "")) in ("__import__", "import_module"):
                names.add(str(node.args[0].value))
    return names
