"""Cold: from the start of Python to the first result of engine 3, with no kernel compiled before.

    python benchmarks/cold.py [--quick] [--rounds 15] [--json FILE]

Each turn is a process of its own with an empty kernel cache. «programs» are those that were built, the
one that tries the device included.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import fused
import mlp
import numpy as np
from contenders import PROCESSOR, PROGRAMS, Comparison, Contender
from tables import main

SIZE = 2**16


def operations():
    """Some operations, one after the other."""
    import tinygrad_cl.netcl.autograd as ag
    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.tensor import Tensor

    x = ag.tensor(Tensor.from_host(manager.default("auto").queue, np.ones((8, 8), np.float32)))
    results = ag.add(x, x), ag.mul(x, x), ag.exp(x), ag.sum(x), ag.matmul(x, x), ag.softmax(x)
    return [float(each.value.to_host().sum()) for each in results]


def step():
    """The first step of mlp.py, captured."""
    from tinygrad_cl.netcl.runtime import capture

    train, _ = mlp.our_step((mlp.SIZES, mlp.BATCH))
    return [float(capture(train)().to_host())]


def chain():
    """The first calls of the fused chain of fused.py, forward and backward."""
    _, answers = fused.make_compiled(SIZE)((1, 1))
    return np.ravel(answers).tolist()


FIRST = {"operations": operations, "step": step, "chain": chain}


def build_counter():
    """A list that grows by one with each program that is built."""
    import pyopencl as cl

    built, build = [], cl.Program.build

    def counted(program, *args, **kwargs):
        built.append(program)
        return build(program, *args, **kwargs)

    cl.Program.build = counted
    return built


def children_time():
    """Seconds that the processes which this one started, and which have ended, were on a core."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def make_ours(settings):
    def turn(mode):
        with tempfile.TemporaryDirectory() as cache:
            nothing_kept = {"POCL_CACHE_DIR": cache, "PYOPENCL_NO_CACHE": "1", "CUDA_CACHE_DISABLE": "1"}
            before, start = children_time(), time.perf_counter()
            process = subprocess.Popen(
                [sys.executable, __file__, "--first", mode], stdout=subprocess.PIPE, env=os.environ | nothing_kept
            )
            line = process.stdout.readline()
            seconds = time.perf_counter() - start
            process.communicate()
        if process.returncode:
            raise RuntimeError(f"the process ended with exit code {process.returncode}")
        found = json.loads(line)
        parts = {"step": seconds, PROCESSOR: children_time() - before, PROGRAMS: found["programs"]}
        return parts, found["answer"]

    return turn


def comparisons(quick):
    modes = {"six operations": "operations"}
    if not quick:
        modes |= {"a training step of the MLP, captured": "step", "a fused chain and its gradients": "chain"}
    return [
        Comparison(
            "cold",
            "From the start of Python to the first result, nothing compiled before",
            (Contender("tinygrad_cl.netcl", make_ours, ours=True),),
            None,
            modes,
            unit="s",
            fewer=2,
        )
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--first"]:
        programs = build_counter()
        print(json.dumps({"answer": FIRST[sys.argv[2]](), "programs": len(programs)}), flush=True)
    else:
        main(__doc__, comparisons)
