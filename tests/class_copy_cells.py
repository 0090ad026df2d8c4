"""Run as a program: the cells of a notebook, with the course that is first on sys.path.

stdin: their sources; stdout: for each, what it raised ("" if nothing) and what it printed.
"""

import contextlib
import io
import json
import sys
import traceback

from IPython.core.interactiveshell import InteractiveShell


def run(shell, source):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        done = shell.run_cell(source)
    error = done.error_before_exec or done.error_in_exec
    return ["".join(traceback.format_exception(error)) if error else "", printed.getvalue()]


def main():
    shell = InteractiveShell.instance()  # its namespace is the module __main__, as in a kernel
    shell.showtraceback = lambda *arguments, **options: None  # it is in the answer
    json.dump([run(shell, source) for source in json.load(sys.stdin)], sys.stdout)


main()
