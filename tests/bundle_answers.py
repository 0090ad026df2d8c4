"""Run as a program: the answers of checks, with the course that is first on sys.path, for solutions that come as JSON.

stdin: [[check, [[name of a cell, source], …]], …]; stdout: for each, what the check prints and what it displays.
"""

import contextlib
import io
import json
import linecache
import sys
import types


def answer(check, cells):
    from autograder.notebook import run_check

    sys.modules["__main__"] = notebook = types.ModuleType(
        "__main__"
    )  # as in a kernel: the package looks there for what it lacks
    namespace = vars(notebook)
    with contextlib.redirect_stdout(io.StringIO()):  # some mistakes print
        for name, source in cells:
            linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
            try:
                exec(compile(source, name, "exec"), namespace)
            except Exception:  # as in a notebook, where the cells below run all the same
                continue
        report = run_check(check, namespace)
    return [str(report), report._repr_html_()]


def main():
    answers = [answer(check, cells) for check, cells in json.load(sys.stdin)]
    ours = {
        name: module.__file__
        for name, module in sys.modules.items()
        if name.partition(".")[0] in ("autograder", "tinygrad_cl")
    }
    json.dump({"answers": answers, "files": sorted(ours.values())}, sys.stdout)


main()
