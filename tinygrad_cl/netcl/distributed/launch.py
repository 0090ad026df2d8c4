"""Run a function of a notebook in real processes, with mpiexec."""

import dis
import functools
import importlib.util
import inspect
import os
import pickle
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import types
from pathlib import Path

from tinygrad_cl.netcl.distributed.simulated import simulate

# By default, Open MPI refuses to run as root, and to start more processes than there are cores.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

PROGRAM = """{imports}

{sources}

if __name__ == "__main__":
    import pathlib, pickle, traceback
    from mpi4py import MPI
    folder = pathlib.Path(__file__).parent
    globals().update(pickle.loads((folder / "data").read_bytes()))
    try:
        results = MPI.COMM_WORLD.gather({name}(MPI.COMM_WORLD))
    except BaseException:
        (folder / "error").write_text(traceback.format_exc(), encoding="utf-8")
        MPI.COMM_WORLD.Abort(1)
    if MPI.COMM_WORLD.rank == 0:
        (folder / "results").write_bytes(pickle.dumps(results))
"""


def start(program, size, timeout=60, **environment):
    """The results of program(comm) in each of `size` processes, a list; `comm` is mpi4py's.

    program       a function at the top level of a cell; the functions, modules and data that it
                  uses by name are sent with it
    timeout       seconds after which the processes are stopped
    environment   environment variables for the processes

    If mpi4py or mpiexec is not installed, this prints a message and simulates the processes.
    RuntimeError with the traceback if a process fails. Each process computes on one core.
    """
    mpiexec = find_mpiexec()
    if mpiexec is None:
        print(
            "mpi4py or mpiexec is not installed (pip install tinygrad-cl-course[parallel]), so "
            "the processes are simulated."
        )
        return simulate(program, size)[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, data = packed(program)
        (folder / "program.py").write_text(text, encoding="utf-8")
        (folder / "data").write_bytes(pickle.dumps(data))
        variables = (
            os.environ
            | OPEN_MPI
            | ONE_THREAD
            | environment
            | {"MPIEXEC_TIMEOUT": str(timeout), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        )
        command = [mpiexec, "-n", str(size), sys.executable, str(folder / "program.py")]
        finished = subprocess.run(
            command, env=variables, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=timeout + 10
        )
        if finished.stdout:
            print(finished.stdout, end="")
        if not (folder / "results").exists():
            error = folder / "error"
            said = error.read_text(encoding="utf-8") if error.exists() else finished.stderr
            raise RuntimeError(
                f"one of {size} processes failed, or all took more than {timeout} s:\n{said.strip()[-2000:]}"
            )
        return pickle.loads((folder / "results").read_bytes())


@functools.cache
def find_mpiexec():
    """The path of mpiexec, first in this Python's scripts; None without mpiexec or mpi4py."""
    if importlib.util.find_spec("mpi4py") is None:
        return None
    places = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    return shutil.which("mpiexec", path=places)


def packed(program):
    """The source of a script that runs `program`, and the data that it uses, {name: value}."""
    imports, sources, data = [], [], {}
    for name, value in used_by(program).items():
        if isinstance(value, types.ModuleType):
            imports.append(f"import {value.__name__} as {name}")
        elif isinstance(value, (type, types.FunctionType)) and value.__module__ != program.__module__:
            imports.append(f"from {value.__module__} import {value.__qualname__} as {name}")
        elif getattr(sys.modules[type(value).__module__], name, None) is value:
            imports.append(f"from {type(value).__module__} import {name}")
        elif isinstance(value, types.FunctionType):
            sources.append(inspect.getsource(value))
        else:
            data[name] = value
    return PROGRAM.format(imports="\n".join(imports), sources="\n\n".join(sources), name=program.__name__), data


def used_by(program):
    """The globals that a function and its helper functions use: {name: value}, itself last."""
    if program.__closure__:
        raise ValueError(
            f"{program.__name__} uses variables of the function around it "
            f"({', '.join(program.__code__.co_freevars)}): define it at the top level"
        )
    found = {}
    names = [name for name in globals_in(program.__code__) if name in program.__globals__]
    for name in names:
        value = program.__globals__[name]
        if name in found or value is program:
            continue
        if isinstance(value, types.FunctionType) and value.__module__ == program.__module__:
            found = used_by(value) | found
        found[name] = value
    return found | {program.__name__: program}


def globals_in(code):
    """The names of the globals that a code object and the functions inside it read."""
    names = [step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += globals_in(constant)
    return list(dict.fromkeys(names))
