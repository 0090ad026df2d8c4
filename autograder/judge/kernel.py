"""A student's kernel as the judge sees it: run a cell or a probe within a time, whatever the code does.

Nothing a kernel does makes these functions raise: each run ends as ok, error, timeout or dead.
"""

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from inspect import getsource

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager
from nbformat.v4 import new_output, output_from_msg

from autograder.checks import inside, tools
from autograder.checks.check import Check
from autograder.sandbox.bubblewrap import new_user
from autograder.sandbox.course import course_for
from autograder.sandbox.provisioner import COMPILED, NAME

OUTPUT_LIMIT = 100_000  # characters of output that are kept per cell; the rest is read and dropped
START_SECONDS, INTERRUPT_SECONDS = 60, 3
RECORDS = "application/x-course-records+json"

# Runs in the kernel. It uses no name of the notebook, so a student may call a variable `exec` or `json`.
BOOTSTRAP = f"""
import json, types
from IPython import get_ipython

def module(name):
    made = types.ModuleType(name)
    exec(compile(request[name], "<" + name + ">", "exec"), made.__dict__)
    return made

inside, tools = module("inside"), module("tools")
probe = inside.compile_probe(request["probe"])
trials = inside.run_trials(probe, get_ipython().user_ns, request["seeds"], tools.Tools(), request["seconds"])
get_ipython().display_pub.publish({{"{RECORDS}": json.dumps(trials)}})
"""


@dataclass
class Run:
    """How a piece of code ended (ok, error, timeout or dead), and what it put out."""

    status: str
    outputs: list = field(default_factory=list)
    records: list | None = None


@dataclass(frozen=True)
class Box:
    """The sandbox of a kernel.

    cache   a folder of kernels that a driver has compiled: each submission begins with a copy of its own
    fill    put there what is compiled now; for the reference's own run only
    """

    cache: str = ""
    fill: bool = False


class OneSpec(KernelSpecManager):
    """Knows one kernel, whatever its name."""

    def __init__(self, spec: KernelSpec):
        super().__init__()
        self.spec = spec

    def get_kernel_spec(self, name):
        return self.spec


class StudentKernel:
    """One kernel for one notebook. `restart` gives a fresh one after a crash."""

    def __init__(self, module: str = "", box: Box | None = None):
        """module   what it asks the student to write is not in the box

        Without a box it is an ordinary process of this user.
        """
        self.module, self.box = module, box
        self.manager = self.client = self.own_folder = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *exception):
        self.stop()

    def start(self) -> None:
        self.own_folder = tempfile.TemporaryDirectory(prefix="course-kernel-", ignore_cleanup_errors=True)
        self.manager = self.sandboxed() if self.box else KernelManager(kernel_name="python3")
        if sys.platform != "win32":
            self.manager.transport, self.manager.ip = "ipc", os.path.join(self.own_folder.name, "socket")
        # What a student writes past Python, straight to the file descriptors, belongs to nobody.
        self.manager.start_kernel(cwd=self.own_folder.name, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  extra_arguments=["--HistoryManager.hist_file=:memory:"])
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=START_SECONDS)

    def sandboxed(self) -> KernelManager:
        """A manager whose kernel starts in the sandbox."""
        settings = {"folder": self.own_folder.name, "course": str(course_for(self.module)), "cache": self.box.cache,
                    "user": new_user()}
        spec = KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python",
                          display_name="a submission", interrupt_mode="message",
                          metadata={"kernel_provisioner": {"provisioner_name": NAME, "config": settings}})
        return KernelManager(kernel_name="python3", kernel_spec_manager=OneSpec(spec),
                             connection_file=os.path.join(self.own_folder.name, "connection.json"))

    def stop(self) -> None:
        if self.client:
            self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        if self.box and self.box.fill:
            shutil.copytree(os.path.join(self.own_folder.name, COMPILED), self.box.cache, dirs_exist_ok=True)
        self.own_folder.cleanup()

    def restart(self) -> None:
        self.stop()
        self.start()

    @property
    def alive(self) -> bool:
        return self.manager.is_alive()

    def run(self, code: str, seconds: float) -> Run:
        """Run code as a cell. After `seconds` it is interrupted; if that does not help, the kernel is killed."""
        request = self.client.execute(code, allow_stdin=False, store_history=True)
        run, kept = Run("ok"), 0
        deadline, interrupted = time.monotonic() + seconds, False
        while True:
            if time.monotonic() > deadline:
                run.status = "timeout"
                if interrupted:
                    self.manager.shutdown_kernel(now=True)
                    return run
                self.manager.interrupt_kernel()
                interrupted, deadline = True, time.monotonic() + INTERRUPT_SECONDS
            try:
                message = self.client.get_iopub_msg(timeout=0.1)
            except queue.Empty:
                if not self.alive:
                    run.status = "timeout" if interrupted else "dead"
                    return run
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return run
            if kind == "display_data" and RECORDS in content["data"]:
                run.records = parse_records(content["data"][RECORDS])
                continue
            if kind == "error" and run.status == "ok":
                run.status = "error"
            kept = keep_output(run.outputs, message, kept)

    def probe(self, check: Check, seeds: list[int]) -> Run:
        """Run a check's probe in the kernel, one trial per seed."""
        request = {"inside": getsource(inside), "tools": getsource(tools), "probe": check.probe_source,
                   "seeds": seeds, "seconds": check.seconds}
        code = f"__import__('builtins').exec({BOOTSTRAP!r}, {{'request': {request!r}}})"
        return self.run(code, check.seconds * inside.PATIENCE * 2 + 5)


def parse_records(text) -> list | None:
    """The trials that the kernel sent, or None if it is anything but a list of dicts."""
    try:
        trials = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
    return trials if isinstance(trials, list) and trials and all(isinstance(t, dict) for t in trials) else None


def keep_output(outputs: list, message: dict, kept: int) -> int:
    """Add a message's output to the cell's outputs while there is room; returns how much is kept by now."""
    try:
        output = output_from_msg(message)
    except ValueError:
        return kept
    size = len(json.dumps(output, default=str))
    if kept > OUTPUT_LIMIT:
        return kept
    if kept + size > OUTPUT_LIMIT:
        if output.output_type == "stream":
            outputs.append(new_output("stream", name=output.name, text=output.text[:max(OUTPUT_LIMIT - kept, 0)]))
        outputs.append(new_output("stream", name="stdout", text="\n[the rest of the output was cut]\n"))
        return OUTPUT_LIMIT + 1
    if outputs and output.output_type == "stream" == outputs[-1].output_type and outputs[-1].name == output.name:
        outputs[-1].text += output.text
    else:
        outputs.append(output)
    return kept + size
