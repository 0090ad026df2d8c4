"""Attacks through what sandboxes share, and on what the machine has: compiled kernels, key rings, locks, memory, files."""

import ctypes
import io
import json
import os
import platform
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.grading.worker import Task, work
from autograder.judge.kernel import Sandbox, StudentKernel
from autograder.judge.notebook_run import Limits as NotebookLimits
from autograder.lesson.notebooks import blank_notebook
from autograder.lesson.text import read_lesson
from autograder.sandbox import bubblewrap
from autograder.sandbox.bubblewrap import Limits, box, why_not
from autograder.sandbox.folders import kept_folder, remove_abandoned
from autograder.sandbox.seccomp import filter_here

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())
needs_the_filter = pytest.mark.skipif(not filter_here(), reason="the filter of system calls does not know this machine")
MODULE, KERNELS = "01_value", "09_kernels"

# Hides the reference's compiled kernels behind one's own text, if they are in the cache.
THIEF = """
import glob, os, re
os.environ["PYOPENCL_NO_CACHE"] = "1"
import pyopencl as cl
C, REF = os.environ["POCL_CACHE_DIR"], {}
for so in glob.glob(C + "/*/*/*/*/*.so"):
    REF.setdefault(so.split("/")[-3], []).append(open(so.rsplit("/", 3)[0] + "/program.bc", "rb").read())
INIT, BUILD = cl.Program.__init__, cl.Program.build
def init(self, context, source=None, *rest):
    self._text = source if isinstance(source, str) else ""
    INIT(self, context, source, *rest) if source is not None else INIT(self, context)
def build(self, *a, **k):
    names = re.findall(r"__?kernel\\s+void\\s+(\\w+)", getattr(self, "_text", ""))
    before = set(glob.glob(C + "/*/*/program.bc"))
    done = BUILD(self, *a, **k)
    new = set(glob.glob(C + "/*/*/program.bc")) - before
    if not new or not any(name in REF for name in names):
        return done
    for place in new:
        open(place, "wb").write(next(REF[name][0] for name in names if name in REF))
    return BUILD(cl.Program(self._context, self._text), *a, **k)
cl.Program.__init__, cl.Program.build = init, build
"""


@pytest.fixture(scope="module")
def compiled():
    """What is compiled ahead for a module of kernels."""
    result = work(Task(KERNELS, json.dumps(blank_notebook(read_lesson(KERNELS))).encode(), "a seed", fill=True))
    assert not result.failure and {verdict["points"] for verdict in result.verdicts.values()} == {0.0}
    return result.compiled


def test_a1_no_kernel_that_an_exercise_asks_for_is_compiled_ahead(compiled):
    solved = "".join(cell.solved for cell in read_lesson(KERNELS).cells if cell.kind == "exercise")
    asked = set(re.findall(r"kernel\s+void\s+(\w+)", solved))
    files = zipfile.ZipFile(io.BytesIO(compiled)).namelist()
    assert asked and not {part for file in files for part in file.split("/")} & asked
    assert any(file.endswith("program.bc") for file in files) or "PoCL" not in str(files)


@pytest.mark.long
def test_a1_a_notebook_with_nothing_written_gains_nothing_from_the_cache(compiled):
    notebook = blank_notebook(read_lesson(KERNELS))
    exercises = [cell for cell in notebook.cells if cell.metadata.get("course", {}).get("kind") == "exercise"]
    for cell in exercises:
        cell.source = re.sub(r"(?m)^\s*raise NotImplementedError.*\n?", "", cell.source)
    notebook.cells.insert(notebook.cells.index(exercises[0]), nbformat.v4.new_code_cell(THIEF, id="attack"))
    limits = NotebookLimits(cell_seconds=5, seconds=40, deaths=2)
    result = work(Task(KERNELS, json.dumps(notebook).encode(), "a seed", limits=limits, compiled=compiled))
    assert not result.failure and sum(verdict["points"] for verdict in result.verdicts.values()) == 0


# -- what one sandbox could tell another ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kernel():
    with StudentKernel(MODULE, Sandbox()) as started:
        yield started


def said(kernel, code, seconds=30):
    """How a cell ended, and what it printed or raised."""
    if not kernel.alive:
        kernel.restart()
    run = kernel.run(code, seconds)
    return run.status, "".join(each.get("text") or str(each.get("evalue")) for each in run.outputs).strip()


CALLS = """
import ctypes, errno, os
C = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    found = C.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    return errno.errorcode.get(ctypes.get_errno()) if found < 0 else found
"""


@needs_the_filter
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of its calls")
def test_a2_there_are_no_keys(kernel):
    ours = ctypes.CDLL(None, use_errno=True)
    secret = ours.syscall(
        ctypes.c_long(248), b"user", b"course-credential", b"x", ctypes.c_size_t(1), ctypes.c_long(-3)
    )
    calls = "call(248, b'user', b'stolen', b'x', 1, -4), call(249, b'user', b'course-credential', None, -4), call(250, 10, -3, b'user', b'course-credential', 0)"
    try:
        assert said(kernel, CALLS + f"print({calls})") == ("ok", "ENOSYS ENOSYS ENOSYS")
        text = said(kernel, "print(open('/proc/keys').read(), open('/proc/key-users').read())")[1]
        assert "Permission denied" in text or not text
    finally:
        if secret > 0:
            ours.syscall(ctypes.c_long(250), ctypes.c_long(21), ctypes.c_long(secret))  # KEYCTL_INVALIDATE


LOCK = """
import fcntl
shared = open('/usr/bin/env', 'rb')
fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB)
fcntl.lockf(shared, fcntl.LOCK_SH | fcntl.LOCK_NB, 8, 8)
print('locked')
"""
ASK = """
import struct
for question in (5, 36):
    try: print(fcntl.fcntl(shared, question, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0)))
    except OSError: print('no answer')
"""


@needs_the_filter
def test_a3_a_lock_is_not_seen_by_another_sandbox(kernel):
    with StudentKernel(MODULE, Sandbox()) as other:
        assert said(kernel, LOCK) == said(other, LOCK) == ("ok", "locked")
        assert said(other, ASK) == ("ok", "no answer\nno answer")
        assert "locked" in said(kernel, LOCK)[1]


@needs_the_filter
def test_nobody_is_told_which_files_another_sandbox_reads(kernel):
    code = "print([C.inotify_init1(0), C.fanotify_init(0x200, 0), fcntl_of()])\n"
    lease = "import fcntl\ndef fcntl_of():\n    try: return fcntl.fcntl(open('/usr/bin/env'), fcntl.F_SETLEASE, fcntl.F_RDLCK)\n    except OSError: return -1\n"
    assert said(kernel, CALLS + lease + code) == ("ok", "[-1, -1, -1]")


CHANNELS = """
import os, socket
def tried(function, *arguments):
    try: return function(*arguments)
    except OSError as error: return errno.errorcode[error.errno]
file = os.open('/usr/bin/env', os.O_RDONLY)
os.utime('/dev/null', (1, 1)), os.utime('/dev/full', (1, 1))
print(tried(os.preadv, file, [bytearray(1)], 0, os.RWF_NOWAIT), tried(socket.socket, 40, socket.SOCK_STREAM), socket.socket().family)
"""


@needs_the_filter
def test_what_is_in_memory_the_devices_times_and_the_host_tell_nobody_anything(kernel):
    assert said(kernel, CALLS + CHANNELS) == (
        "ok",
        "ENOTSUP EAFNOSUPPORT 2",
    )  # the C library, where preadv2 is not there
    assert 1 not in [os.stat(f"/dev/{name}").st_mtime for name in ("null", "full")]


def test_a_database_of_ones_own_and_processes_that_share_work_as_ever(kernel):
    code = """
import multiprocessing, sqlite3
book = sqlite3.connect('book.db')
book.execute('create table a (b)'); book.execute('insert into a values (3)'); book.commit()
number, lock = multiprocessing.Value('i', 1), multiprocessing.Lock()
with multiprocessing.Pool(2) as pool:
    print(pool.map(abs, [-1, -2]), book.execute('select b from a').fetchone(), number.value)
"""
    assert said(kernel, code) == ("ok", "[1, 2] (3,) 1")


# -- memory and files that are counted nowhere ----------------------------------------------------------------------------


@needs_the_filter
def test_e1_memory_without_a_process_cannot_be_had(kernel):
    code = """
import mmap
def tried(make):
    try: make()
    except (OSError, AttributeError) as error: return type(error).__name__
print(tried(lambda: os.memfd_create('m')), C.shmget(0, 2**20, 0o1600), C.msgget(0, 0o1600),
      tried(lambda: mmap.mmap(-1, 2**20)), tried(lambda: mmap.mmap(os.open('/dev/zero', os.O_RDWR), 2**20)), open('/dev/zero', 'rb').read(2))
"""
    assert said(kernel, CALLS + code) == ("ok", "OSError -1 -1 OSError OSError b'\\x00\\x00'")


@needs_the_filter
def test_nobody_becomes_root_in_a_namespace_of_their_own(kernel):
    assert said(kernel, CALLS + "print(C.unshare(0x10000000), C.unshare(0x20000), C.setns(0, 0))") == ("ok", "-1 -1 -1")
    done = "import subprocess; print(subprocess.run(['unshare', '-Ur', 'true'], capture_output=True).returncode != 0)"
    assert said(kernel, done) == ("ok", "True")


FILL = """
import os
def fill(name):
    with open(name, 'wb') as file:
        os.unlink(name)
        kept.append(os.dup(file.fileno()))
        for _ in range(90):
            file.write(b'x' * 2**20)
            file.flush()
kept = []
"""


@pytest.mark.parametrize(
    "code",
    [
        "for i in range(8): fill(f'f{i}')",
        "for i in range(8): fill(f'/dev/shm/f{i}')",
        "for _ in range(25): os.mkdir('d' * 200); os.chdir('d' * 200)\nfor i in range(8): fill(f'f{i}')",
    ],
    ids=["without names", "in shared memory", "below a path that is too long"],
)
def test_e2_files_are_counted_wherever_they_lie(kernel, code):
    status, text = said(kernel, FILL + code)
    assert status == "dead" or "No space left" in text
    time.sleep(1.5)  # nobody runs a cell, and it is seen
    assert not kernel.alive and any("it wrote 512 MiB" in flag for flag in kernel.flags)


def test_e_nothing_that_is_written_gets_onto_a_disk(kernel):
    said(kernel, "open('/tmp/mine', 'w').write('x' * 10**6)")
    assert [path.name for path in kernel.own_folder.iterdir()] == ["connection.json"]


def test_e4_the_root_and_dev_cannot_be_filled_also_where_no_root_starts_it(monkeypatch):
    places = "/x /etc/x /dev/x /course-x /usr/x"
    code = f"for place in {places}; do (echo x > $place) 2>/dev/null && echo $place; done; df --output=size -k /tmp /dev/shm | tail -2"
    as_nobody = []
    if os.geteuid() == 0:
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        if subprocess.run(
            [*as_nobody, "bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True
        ).returncode:
            pytest.skip("only root may make namespaces here")
        monkeypatch.setattr(bubblewrap.os, "geteuid", lambda: 65534)
    command = box(["sh", "-c", code], Limits(), [], {"PATH": os.defpath}, 0)
    done = subprocess.run([*as_nobody, *command], capture_output=True, text=True)
    assert done.stdout.split() == ["524288", "524288"], done.stderr


# -- what is left ---------------------------------------------------------------------------------------------------------

HOLDS = "from autograder.sandbox.folders import kept_folder; print(kept_folder(), flush=True); input()"


def test_e5_what_a_killed_process_kept_is_removed_by_the_next_and_nobody_elses(tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        return process, Path(process.stdout.readline().strip())

    (killed, left), (alive, kept) = start(), start()
    (left / "file").write_text("x")
    killed.kill()
    killed.communicate()
    assert left.exists()
    third, own = start()
    assert not left.exists() and kept.exists() and own.exists()
    for process in (alive, third):
        process.communicate("\n")
    assert list(tmp_path.iterdir()) == []


def test_e5_somebody_elses_folder_or_file_of_that_name_is_left_alone(tmp_path):
    (tmp_path / "course-of-a-file").write_text("x")
    (tmp_path / "course-of-a-link").symlink_to(tmp_path / "target")
    (tmp_path / "target").mkdir()
    remove_abandoned(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3 and kept_folder().exists()
