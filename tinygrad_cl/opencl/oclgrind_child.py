"""The script that `oclgrind.inspect_kernel` runs in a separate process: one launch on Oclgrind's device."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pyopencl as cl


def main(folder: Path) -> None:
    """Run the kernel of `call.json` on the arrays of `arrays.npz`."""
    call, arrays = json.loads((folder / "call.json").read_text()), np.load(folder / "arrays.npz")
    platform = next(platform for platform in cl.get_platforms() if "oclgrind" in platform.name.lower())
    context = cl.Context(platform.get_devices())
    queue = cl.CommandQueue(context)
    warnings.simplefilter("ignore", cl.CompilerWarning)
    kernel = cl.Kernel(cl.Program(context, call["source"]).build(), call["name"])
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    arguments = []
    for kind, value in call["arguments"]:
        arguments.append(
            cl.Buffer(context, flags, hostbuf=arrays[value]) if kind == "array" else np.dtype(kind).type(value)
        )
    kernel(queue, tuple(call["work_items"]), call["local_size"] and tuple(call["local_size"]), *arguments)
    queue.finish()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
