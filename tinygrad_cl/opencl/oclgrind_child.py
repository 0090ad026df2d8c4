"""The script that `oclgrind.inspect_kernel` runs in a separate process: one kernel on Oclgrind's device, in one way or several."""

import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pyopencl as cl


def main(folder: Path) -> None:
    """Run the kernel of `source.cl` as `call.json` says, on the arrays of `arrays.npz`.

    For each of `ways.json`, options of the compiler and settings of Oclgrind, it writes a log and the arrays afterwards.
    """
    call, source = json.loads((folder / "call.json").read_text()), (folder / "source.cl").read_text(encoding="utf-8")
    platform = next(platform for platform in cl.get_platforms() if "oclgrind" in platform.name.lower())
    warnings.simplefilter("ignore", cl.CompilerWarning)
    for number, (options, settings) in enumerate(json.loads((folder / "ways.json").read_text())):
        with np.load(folder / "arrays.npz") as given:
            arrays = {name: given[name] for name in given.files}
        for name in [name for name in os.environ if name.startswith("OCLGRIND_")]:
            del os.environ[name]
        os.environ |= settings | {"OCLGRIND_LOG": str(folder / f"{number}.log")}  # a context reads them when it is made
        run(call, source, options, arrays, cl.Context(platform.get_devices()))
        np.savez(folder / f"results{number}.npz", **arrays)


def run(call: dict, source: str, options: list[str], arrays: dict[str, np.ndarray], context: cl.Context) -> None:
    queue, flags = cl.CommandQueue(context), cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    kernel = cl.Kernel(cl.Program(context, source).build(options), call["name"])
    buffers = {name: cl.Buffer(context, flags, hostbuf=array) for name, array in arrays.items()}
    arguments = [buffers[value] if kind == "array" else np.dtype(kind).type(value) for kind, value in call["arguments"]]
    kernel(queue, tuple(call["work_items"]), call["local_size"] and tuple(call["local_size"]), *arguments)
    for name, buffer in buffers.items():
        cl.enqueue_copy(queue, arrays[name], buffer)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
