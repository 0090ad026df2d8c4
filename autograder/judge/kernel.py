"""A student's kernel as the judge sees it: run a cell or a check within a time, whatever the code does.

Nothing a kernel does makes these functions raise: each run ends as ok, error, timeout or dead.
"""

import json
import queue
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from inspect import getsource
from pathlib import Path

import zmq
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager

from autograder.checks import inside, tools
from autograder.checks.check import Check
from autograder.judge.launched import asked
from autograder.judge.messages import LARGEST_MESSAGE, RECORDS, decoded, keep_output, kind_and_content, records_in
from autograder.judge.plan import plan_of, watched_plan
from autograder.sandbox.bubblewrap import new_user, root_of
from autograder.sandbox.course import course_for
from autograder.sandbox.folders import new_folder, remove
from autograder.sandbox.provisioner import COMPILED, CONNECTION, NAME, SOCKET
from autograder.sandbox.watch import LOOK_SECONDS, Watch, left_behind

START_SECONDS, INTERRUPT_SECONDS = 60, 3
LOST_SECONDS = 1  # after the reply to a cell, its outputs are waited for that long

# Integrity flags: suspicious behaviour, reported to the instructor. They change no mark.
NO_MESSAGE = "sent bytes that are no message, or too large a one"
RECORDS_OF_A_CELL = "a cell sent records, as only a check does"
TWO_ANSWERS = "a check was answered more than once"
LEFT_BEHIND = "programs that it started still ran at its end"  # with their names

# Runs in the kernel. It uses no name of the notebook, so a student may call a variable `exec` or `json`.
PREPARE = """
import json, types
from IPython import get_ipython

def module(name):
    made = types.ModuleType(name)
    exec(compile(request[name], "<" + name + ">", "exec"), made.__dict__)
    return made

inside, tools = module("inside"), module("tools")
names = get_ipython().user_ns
"""
CASES = f"""
trials = inside.run_cases(request["aspects"], names, tools.Tools(), request["seconds"])
get_ipython().display_pub.publish({{"{RECORDS}": json.dumps(inside.encoded(trials))}})
"""

IMPORTED = f"""
import json, sys
from IPython import get_ipython
get_ipython().display_pub.publish({{"{RECORDS}": json.dumps([name for name in asked if name in sys.modules])}})
"""


def code_in_kernel(code: str, **request) -> str:
    """`code` as a cell for a student's kernel.

    It finds `inside` and `tools`, the notebook's `names`, and `request`; `module(name)` makes a module of a text that the
    request holds under that name.
    """
    request |= {"inside": getsource(inside), "tools": getsource(tools)}
    return f"__import__('builtins').exec({PREPARE + code!r}, {{'request': {request!r}}})"


@dataclass
class Run:
    """How a piece of code ended (ok, error, timeout or dead), and its output.

    records   the last message of records that it sent, whatever it holds
    trials    the decoded records of a check; None if they cannot be decoded
    """

    status: str
    outputs: list = field(default_factory=list)
    records: object = None
    trials: list[inside.Trial] | None = None


@dataclass(frozen=True)
class Sandbox:
    """The settings of a kernel's sandbox.

    cache   a folder of OpenCL kernels that a driver compiled before; each submission gets its own copy
    fill    copy what is compiled in this run into `cache`; only for the blank notebook, which holds no solution
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


@dataclass(frozen=True)
class Launched:
    """A kernel that is starting, or has started.

    folder  where it runs without a sandbox, and where the file with its addresses is
    root    the folder under which the files of its sandbox are seen from outside; "" without one
    """

    folder: Path
    root: str
    manager: KernelManager
    client: BlockingKernelClient

    def end(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        remove(self.folder)


def launch(module: str, sandbox: Sandbox | None) -> Launched:
    """Start a kernel, and do not wait for it."""
    folder, root = new_folder("kernel-"), ""
    manager = sandboxed(module, sandbox, folder) if sandbox else KernelManager(kernel_name="python3")
    if sys.platform != "win32":
        manager.transport, manager.ip = "ipc", SOCKET if sandbox else str(folder / "socket")
    # What a student writes past Python, straight to the file descriptors, belongs to nobody.
    manager.start_kernel(
        cwd=str(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        extra_arguments=["--HistoryManager.hist_file=:memory:"],
    )
    if sandbox:
        root = root_of(manager.provisioner.pid)
        manager.ip = root + SOCKET  # where it is seen from here
    # Beyond these a process that floods is not read: its messages would fill the memory of who grades.
    manager.context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
    manager.context.setsockopt(zmq.RCVHWM, 20)
    client = manager.blocking_client()
    client.start_channels()
    return Launched(folder, root, manager, client)


def sandboxed(module: str, sandbox: Sandbox, folder: Path) -> KernelManager:
    """A manager whose kernel starts in the sandbox."""
    settings = {"course": str(course_for(module)), "cache": sandbox.cache, "user": new_user()}
    spec = KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        language="python",
        display_name="a submission",
        interrupt_mode="message",
        metadata={"kernel_provisioner": {"provisioner_name": NAME, "config": settings}},
    )
    return KernelManager(
        kernel_name="python3",
        kernel_spec_manager=OneSpec(spec),
        connection_file=str(folder / CONNECTION),
    )


@dataclass(frozen=True)
class Prewarmed:
    """A kernel that was started ahead, while another one runs, and the imports that it already does."""

    kernel: Launched
    imports: str


PREWARMED: dict[tuple[str, Sandbox | None], Prewarmed] = {}


def prewarm(module: str, sandbox: Sandbox | None, imports: str) -> None:
    """Keep a kernel of that module ready in which `imports` have been run, outside the notebook's namespace."""
    if (module, sandbox) not in PREWARMED:
        drop_prewarmed()
        kernel = launch(module, sandbox)
        kernel.client.execute(f"__import__('builtins').exec({imports!r}, {{}})", silent=True)
        PREWARMED[module, sandbox] = Prewarmed(kernel, imports)


def take_prewarmed(module: str, sandbox: Sandbox | None) -> Launched | None:
    """The prewarmed kernel, if it is alive; the next one is started at once."""
    found = PREWARMED.pop((module, sandbox), None)
    if found is None:
        return None
    prewarm(module, sandbox, found.imports)
    if found.kernel.manager.is_alive():
        return found.kernel
    found.kernel.end()
    return None


def drop_prewarmed() -> None:
    while PREWARMED:
        PREWARMED.popitem()[1].kernel.end()


class StudentKernel:
    """One kernel for one notebook. `restart` gives a fresh one after a crash."""

    def __init__(self, module: str = "", sandbox: Sandbox | None = None):
        """module   the sandbox hides the solutions that it asks for

        Without a sandbox the kernel is an ordinary process of this user.
        """
        self.module, self.sandbox = module, sandbox
        self.manager = self.client = self.own_folder = None
        self.root, self.watch = "", None
        self.flags: list[str] = []  # integrity flags, each once

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
        kernel = take_prewarmed(self.module, self.sandbox) or launch(self.module, self.sandbox)
        self.own_folder, self.root, self.manager, self.client = (
            kernel.folder,
            kernel.root,
            kernel.manager,
            kernel.client,
        )
        if self.sandbox:
            self.watch = Watch(self.manager.provisioner.process, self.root, self.flag)
        self.client.wait_for_ready(timeout=START_SECONDS)

    def stop(self) -> None:
        if self.manager is None:  # it could not even be launched
            return
        if self.watch:
            self.watch.stop()
        if self.alive and (programs := left_behind(self.manager.provisioner.pid, sandboxed=self.sandbox is not None)):
            self.flag(f"{LEFT_BEHIND}: {', '.join(programs)}")
        if self.sandbox and self.sandbox.fill and self.alive:
            shutil.copytree(self.root + COMPILED, self.sandbox.cache, dirs_exist_ok=True)
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        remove(self.own_folder)

    def restart(self) -> None:
        self.stop()
        self.start()

    @property
    def alive(self) -> bool:
        return self.manager.is_alive()

    def run(self, code: str, seconds: float, is_check: bool = False) -> Run:
        """Run code as a cell. After `seconds` it is interrupted; if that does not help, the kernel is killed."""
        self.has_replied("")  # reads what earlier cells left
        request = self.client.execute(code, allow_stdin=False, store_history=True)
        run, kept, records = Run("ok"), 0, 0
        deadline, interrupted, replied = time.monotonic() + seconds, False, None
        while True:
            now = time.monotonic()
            if now > deadline:
                run.status = "timeout"
                if interrupted:
                    self.kill()
                    return run
                self.manager.interrupt_kernel()
                interrupted, deadline = True, now + INTERRUPT_SECONDS
            try:
                message = self.client.get_iopub_msg(timeout=0.1)
            except queue.Empty:
                if not self.alive:
                    run.status = "timeout" if interrupted else "dead"
                    return run
                # Where a connection was closed at too large a message, the word that the cell has ended is lost.
                replied = replied or (now if self.has_replied(request) else None)
                if replied and now > replied + LOST_SECONDS:
                    return run
                continue
            except Exception:  # jupyter_client raises whatever forged bytes make it stumble over
                self.flag(NO_MESSAGE)
                continue
            kind, content = kind_and_content(message, request)
            if kind == "status" and content.get("execution_state") == "idle":
                return run
            if kind == "display_data" and records_in(content) is not None:
                run.records, records = records_in(content), records + 1
                if not is_check or records > 1:
                    self.flag(TWO_ANSWERS if is_check else RECORDS_OF_A_CELL)
                continue
            if kind == "error" and run.status == "ok":
                run.status = "error"
            if kind:
                kept = keep_output(run.outputs, message, kept)

    def has_replied(self, request: str) -> bool:
        """Has the kernel said that it is done with that request?"""
        for _ in range(100):  # there may be more at once only where somebody floods
            try:
                reply = self.client.get_shell_msg(timeout=0)
            except queue.Empty:
                return False
            except Exception:
                self.flag(NO_MESSAGE)
                continue
            if kind_and_content(reply, request)[0] == "execute_reply":
                return True
        return False

    def kill(self) -> None:
        self.manager.shutdown_kernel(now=True)

    def flag(self, what: str) -> None:
        if what not in self.flags:
            self.flags.append(what)

    def imported(self, names: Iterable[str]) -> list[str]:
        """Which of these modules have been imported, however their names were written; as far as the kernel says."""
        if not self.alive:
            return []
        code = f"__import__('builtins').exec({IMPORTED!r}, {{'asked': {sorted(names)!r}}})"
        records = self.run(code, LOOK_SECONDS, is_check=True).records
        try:
            found = json.loads(records) if isinstance(records, str) else []
        except (ValueError, RecursionError):
            found = []
        return [name for name in sorted(names) if isinstance(found, list) and name in found]

    def answer(self, check: Check, seed: str, seconds: float) -> Run:
        """Ask for what the student's process has to say of a check: outcomes of its cases, or the texts of kernels."""
        return self.cases(asked(plan_of(check.name, seed) + watched_plan(check.name, seed)), seconds)

    def cases(self, request: list[dict], seconds: float) -> Run:
        """Run cases, as `inside.run_cases` takes them, in the kernel, all together within that much processor time."""
        code = code_in_kernel(CASES, aspects=request, seconds=seconds)
        run = self.run(code, seconds * inside.PATIENCE * 2 + 5, is_check=True)
        run.trials = decoded(run.records)
        return run
