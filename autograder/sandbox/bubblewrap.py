"""The command that runs a program in a bubblewrap sandbox, with limits on what it may use.

Inside there are: the system, read-only; the Python environment, read-only; the course as students may use it,
read-only; /tmp and /dev/shm to write to, which are memory of a fixed size; no network, no other process, no other
user's files. Nothing that is written inside reaches a disk.
"""

import itertools
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import psutil

from autograder.sandbox.folders import kept_folder
from autograder.sandbox.seccomp import filter_here

COURSE = "/course"  # where the course lies inside
SCRATCH = ("/tmp", "/dev/shm")  # all that can be written to
HOME = "/tmp/student"  # the working folder
START_SECONDS = 20  # until there is a process inside
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/sys", "/opt/intel")
HIDDEN = ("/proc/keys", "/proc/key-users")  # the names of the grader's keys
ETC = ("OpenCL", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "fonts", "localtime", "alternatives", "ssl")
KEPT = (
    "LANG",
    "LC_ALL",
    "TZ",
    "MPLBACKEND",
    "TINYGRAD_CL_DEVICE",
    "PYOPENCL_CTX",
    "OCL_ICD_VENDORS",
    "POCL_MAX_PTHREAD_COUNT",
    "POCL_AFFINITY",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
)
HELP = (
    "Linux with bubblewrap is needed (`apt-get install bubblewrap`, or `dnf install bubblewrap`; in Docker, run the container "
    "with --security-opt seccomp=unconfined). `--no-sandbox` runs submissions as ordinary programs of yours: only for "
    "people whom you trust."
)


@dataclass(frozen=True)
class Limits:
    """What all processes of one submission may use; sizes in bytes."""

    cpu_seconds: int = 600
    address_space: int = 12 * 2**30  # mapped, not used: drivers map a lot
    file_size: int = 100 * 2**20
    scratch: int = 512 * 2**20  # of /tmp, which is memory; of /dev/shm as much again
    processes: int = 256  # threads count, and a driver starts some for each core
    open_files: int = 512
    # These are watched from outside (`watch`): no process of its own can be held to them.
    memory: int = 4 * 2**30
    together: int = 32  # processes, without their threads
    files: int = 20_000  # in /tmp, or in /dev/shm


@lru_cache
def why_not() -> str:
    """Why there is no sandbox on this machine, with what to do; "" where there is one. Tried, not guessed."""
    if shutil.which("bwrap") is None or shutil.which("prlimit") is None or shutil.which("setpriv") is None:
        return f"There is no sandbox on this machine: bubblewrap is not installed. {HELP}"
    trial = subprocess.Popen(
        box(["sh", "-c", "touch /tmp/began && read line"], Limits(), [], {}, new_user()),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        began = Path(root_of(trial.pid), "tmp", "began")
        end = time.monotonic() + START_SECONDS
        while trial.poll() is None and not began.exists() and time.monotonic() < end:
            time.sleep(0.01)
        seen_from_outside = began.exists()
    except OSError:
        seen_from_outside = False
    _, said = trial.communicate("\n")
    if trial.returncode or not seen_from_outside:
        reason = said.strip() or "its files cannot be seen from outside"
        return f"There is no sandbox on this machine: bubblewrap does not work here ({reason}). {HELP}"
    return ""


def root_of(pid: int) -> str:
    """The folder under which the files of a sandbox are seen from outside, once it is made; OSError where it has ended.

    pid   the process that was started for the sandbox: bubblewrap, whose child is the first process inside
    """
    end = time.monotonic() + START_SECONDS
    try:
        while time.monotonic() < end:
            first = psutil.Process(pid)
            if inside := first.children():
                return f"/proc/{inside[0].pid}/root"
            if first.status() == psutil.STATUS_ZOMBIE:
                break
            time.sleep(0.005)
    except psutil.Error:
        pass
    raise OSError("the sandbox did not start")


@lru_cache
def refused_calls() -> list[str]:
    """The beginning of a command that opens the seccomp filter under number 9 and starts what follows; [] where there is none."""
    content = filter_here()
    if not content:
        return []
    file = kept_folder() / "seccomp"
    file.write_bytes(content)
    return ["sh", "-c", 'exec "$@" 9<"$0"', str(file)]


STARTED = itertools.count()


def new_user() -> int:
    """A number of a user that nobody has, another one for each sandbox: limits on processes are counted by user.

    Workers, whose process numbers lie side by side, have 62 each, so that no two sandboxes share one.
    """
    return 61_000 + os.getpid() % 64 * 62 + next(STARTED) % 62


def box(command: list[str], limits: Limits, binds: list[str], environment: dict[str, str], user: int) -> list[str]:
    """`command` in a sandbox, as arguments for subprocess.

    binds         further arguments for bubblewrap: what else is to be seen
    environment   all that is set inside
    user          the number of the user it runs as, if root starts it; anybody else stays who they are
    """
    root = os.geteuid() == 0
    # Root needs no user namespace: the program inside becomes somebody else, and loses every right.
    namespaces = (
        ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        if root
        else ["--unshare-all"]
    )
    drop = (
        [
            "setpriv",
            f"--reuid={user}",
            f"--regid={user}",
            "--clear-groups",
            "--inh-caps=-all",
            "--bounding-set=-all",
            "--no-new-privs",
            "--",
        ]
        if root
        else ["setpriv", "--no-new-privs", "--"]
    )
    limit = [
        "prlimit",
        f"--cpu={limits.cpu_seconds}",
        f"--as={limits.address_space}",
        f"--fsize={limits.file_size}",
        f"--nproc={limits.processes}",
        f"--nofile={limits.open_files}",
        "--core=0",
        "--",
    ]
    system = [argument for path in SYSTEM for argument in seen(path)]
    etc = ["--perms", "0755", "--dir", "/etc"] + [
        argument for name in ETC for argument in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    ]
    variables = [argument for pair in environment.items() for argument in ("--setenv", *pair)]
    calls = refused_calls()
    return [
        *calls,
        "bwrap",
        *(["--seccomp", "9"] if calls else []),
        *namespaces,
        "--die-with-parent",
        "--new-session",
        "--hostname",
        "course",
        *system,
        *etc,
        "--proc",
        "/proc",
        *[argument for path in HIDDEN if os.path.exists(path) for argument in ("--ro-bind", "/dev/null", path)],
        "--dev",
        "/dev",
        # It gives as many zeros, and is no memory that can be mapped.
        "--dev-bind-try",
        "/dev/full",
        "/dev/zero",
        *[argument for place in SCRATCH for argument in scratch(place, limits)],
        *binds,
        "--perms",
        "1777",
        "--dir",
        HOME,
        "--chdir",
        HOME,
        # Who starts it without root owns these, and could fill them.
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
        "--clearenv",
        *variables,
        "--",
        *drop,
        *limit,
        *command,
    ]


def scratch(place: str, limits: Limits) -> list[str]:
    """A place in memory that everybody may write to, and that is gone with the sandbox."""
    return ["--perms", "1777", "--size", str(limits.scratch), "--tmpfs", place]


def seen(path: str) -> list[str]:
    """The arguments that show a folder, or the link that stands in its place, as it is outside."""
    if os.path.islink(path):
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind-try", path, path]


def way_to(place: str) -> list[str]:
    """The folders above a place that is not in the system, made so that everybody may pass through them."""
    above = [str(folder) for folder in reversed(Path(place).parents)][1:]
    return [
        argument
        for folder in above
        if folder not in ("/tmp", *SYSTEM) and not folder.startswith("/usr/")
        for argument in ("--perms", "0755", "--dir", folder)
    ]


def python_binds() -> list[str]:
    """The Python that runs now, with all that is installed, but for the course itself: that is shown as students may use it."""
    places = dict.fromkeys(str(Path(place).resolve()) for place in (sys.base_prefix, sys.prefix, sys.base_exec_prefix))
    shown = [place for place in places if not any(place.startswith(f"{other}/") for other in (*places, "/usr"))]
    installed = [
        path / name
        for path in map(Path, sys.path)
        for name in ("tinygrad_cl", "autograder")
        if path.name in ("site-packages", "dist-packages") and (path / name).is_dir()
    ]
    return [argument for place in shown for argument in (*way_to(place), "--ro-bind", place, place)] + [
        argument for path in installed for argument in ("--tmpfs", str(path), "--remount-ro", str(path))
    ]


def kept_environment() -> dict[str, str]:
    """What of the environment is no secret, and changes how things look or which device is used."""
    return {name: os.environ[name] for name in KEPT if name in os.environ}
