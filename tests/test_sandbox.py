"""The sandbox: what a submission's kernel sees, may use, and leaves behind."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder import paths
from autograder.grading.seed import course_seed
from autograder.judge.kernel import LEFT_BEHIND, Sandbox, StudentKernel
from autograder.lesson.text import read_lesson
from autograder.sandbox import bubblewrap
from autograder.sandbox.bubblewrap import why_not
from autograder.sandbox.course import course_for, hidden_symbols

MODULE = "01_value"
pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture(scope="module")
def kernel():
    with StudentKernel(MODULE, Sandbox()) as started:
        yield started


def run(kernel, code, seconds=30):
    """(status, what it put out or raised) of a cell; a kernel that has died is started again."""
    if not kernel.alive:
        kernel.restart()
    done = kernel.run(code, seconds)
    return done.status, "".join(
        each.get("text") or f"{each.get('ename')}: {each.get('evalue')}"
        if each.output_type != "execute_result"
        else each.data["text/plain"]
        for each in done.outputs
    )


def test_what_the_module_asks_for_cannot_be_imported_and_the_error_says_why(kernel):
    assert set(hidden_symbols(MODULE)) == {"tinygrad_cl.scalar"}
    status, text = run(kernel, "import tinygrad_cl.scalar")
    assert status == "error" and "is what module 01_value asks you to write" in text


@pytest.mark.parametrize("name", ["tensor", "netcl", "traced", "gradcheck"])
def test_what_the_module_does_not_use_cannot_be_imported_either(kernel, name):
    status, text = run(kernel, f"import tinygrad_cl.{name}")
    assert status == "error" and "is not used by module 01_value" in text


def test_what_the_lesson_imports_is_there(kernel):
    given = [cell.solved for cell in read_lesson(MODULE).cells if cell.kind == "given"]
    for source in given:
        assert run(kernel, source)[0] == "ok", source
    assert run(kernel, 'check("value.mul"); guess = predict(a=1); guess.compare(a=1)') == (
        "ok",
        "a: you said 1, it is 1 ✓\n",
    )


def test_the_device_works(kernel):
    code = "from tinygrad_cl.opencl import default_device\ndefault_device().queue.device.name != ''"
    assert run(kernel, code, 60) == ("ok", "True")


def test_the_checkout_cannot_be_read(kernel):
    """Where the environment of Python lies in it, that alone is there."""
    status, text = run(kernel, f"import os\nprint(*sorted(os.listdir({str(paths.ROOT)!r})))")
    within = Path(sys.prefix).is_relative_to(paths.ROOT)
    seen = [Path(sys.prefix).relative_to(paths.ROOT).parts[0]] if within else []
    assert text.split() == seen if status == "ok" else "FileNotFoundError" in text


@pytest.mark.parametrize(
    "path",
    [
        paths.LESSONS / "01_value.py",
        paths.SEED_FILE,
        "/etc/passwd",
        "/etc/shadow",
        "/var",
        "/home",
        "/root/.ssh",
        paths.ROOT / "autograder" / "checks" / "m01_value",
        "/course/tinygrad_cl/../../work",
    ],
    ids=str,
)
def test_nothing_else_can_be_read(kernel, path):
    status, text = run(kernel, f"import os\n(os.listdir if os.path.isdir({str(path)!r}) else open)({str(path)!r})")
    above = Path(os.path.normpath(path))
    if Path(sys.prefix).is_relative_to(above):
        # The way to the environment of Python is there, and nothing beside it.
        assert status == "ok" and ast.literal_eval(text) == [Path(sys.prefix).relative_to(above).parts[0]]
    else:
        assert status == "error" and any(word in text for word in ("FileNotFoundError", "PermissionError")), text


def test_checks_mistakes_and_the_judge_are_not_there(kernel):
    for name in ("checks", "judge", "lesson", "grading", "sandbox"):
        status, text = run(kernel, f"import autograder.{name}")
        assert status == "error" and "ModuleNotFoundError" in text
    hidden = [line.strip() for line in read_lesson(MODULE).exercise("value.order").solved.splitlines()[-3:]]
    found = subprocess.run(
        ["grep", "-rlF", hidden[0], course_for(MODULE)], capture_output=True, text=True
    ).stdout.split()
    assert not [path for path in found if "/viz/" not in path and "/tensor/" not in path and "/netcl/" not in path]


def test_no_secret_is_in_the_environment(kernel, monkeypatch):
    monkeypatch.setenv("COURSE_SEED", "a secret seed")
    with StudentKernel(MODULE, Sandbox()) as started:
        text = run(
            started,
            "import os\nprint(dict(os.environ))\nprint(open('/proc/1/environ').read() if os.access('/proc/1/environ', 4) else '')",
        )[1]
    assert "a secret seed" not in text and "COURSE_SEED" not in text
    assert course_seed() == "a secret seed"


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.create_connection(('127.0.0.1', 22), 2)",
        "import socket; socket.create_connection(('1.1.1.1', 53), 2)",
        "import socket; socket.getaddrinfo('pypi.org', 80)",
    ],
)
def test_there_is_no_network(kernel, code):
    assert run(kernel, code)[0] == "error"


@pytest.mark.parametrize(
    "code",
    [
        "open('/usr/x', 'w')",
        "open('/course/x', 'w')",
        "open('/x', 'w')",
        "import sys; open(sys.prefix + '/x', 'w')",
        "import os; os.setuid(0)",
        "import os; os.mount if 0 else os.chroot('/tmp')",
    ],
)
def test_nothing_outside_its_folder_can_be_changed(kernel, code):
    assert run(kernel, code)[0] == "error"
    assert run(kernel, "open('mine', 'w').write('x'); open('/tmp/mine', 'w').write('x')") == ("ok", "1")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_root_becomes_somebody_without_rights(kernel):
    assert run(kernel, "import os; os.getuid() > 60000 and os.getgid() > 60000") == ("ok", "True")
    assert "CapEff:\t0000000000000000" in run(kernel, "print(open('/proc/self/status').read())")[1]


def test_other_processes_are_not_seen(kernel):
    count = "len([name for name in __import__('os').listdir('/proc') if name.isdigit()])"
    assert int(run(kernel, count)[1]) < 10


def test_too_much_memory_is_an_error_and_the_kernel_goes_on(kernel):
    assert "MemoryError" in run(kernel, "x = bytearray(64 * 2**30)")[1]
    assert run(kernel, "1 + 1") == ("ok", "2")


def test_files_and_processes_are_limited(kernel):
    assert run(kernel, "with open('large', 'wb') as f:\n    f.seek(2**30)\n    f.write(b'x')")[0] in ("error", "dead")
    bomb = "import os, time\nwhile True:\n    try:\n        if os.fork() == 0:\n            time.sleep(60)\n    except OSError: pass"
    start = time.monotonic()
    assert run(kernel, bomb)[0] == "dead" and time.monotonic() - start < 10
    assert any("processes" in flag for flag in kernel.flags)


def test_no_process_outlives_the_kernel():
    with StudentKernel(MODULE, Sandbox()) as started:
        run(started, "import subprocess; subprocess.Popen(['sleep', '98765'], start_new_session=True)")
        assert "98765" in subprocess.run(["ps", "ax"], capture_output=True, text=True).stdout
    time.sleep(0.5)
    assert "98765" not in subprocess.run(["ps", "ax"], capture_output=True, text=True).stdout


POOL = """
import multiprocessing, os, time
pool = multiprocessing.get_context({method!r}).Pool(2)
assert pool.map(abs, [-1]) == [1]
"""
SHARED = "from multiprocessing.shared_memory import SharedMemory\nshared = SharedMemory(create=True, size=10)"


@pytest.mark.parametrize("sandbox", [None, Sandbox()], ids=["without a sandbox", "in the sandbox"])
@pytest.mark.parametrize(
    "code, found",
    [
        ("import subprocess; subprocess.Popen(['sleep', '60'])", "sleep"),
        ("import subprocess; subprocess.Popen(['sleep', '9'], start_new_session=True)", "sleep"),
        ("import os; os.system('sleep 60 &')", "sleep"),
        ("import subprocess; subprocess.run(['sleep', '0.1'])", ""),
        ("import subprocess; subprocess.Popen(['sleep', '0.5'])", ""),  # it ends by itself, and nobody asked how
        ("import subprocess; process = subprocess.Popen(['true'])", ""),
        (POOL.format(method="fork"), ""),
        (POOL.format(method="spawn"), ""),
        (POOL.format(method="forkserver"), ""),
        (SHARED, ""),
    ],
)
def test_programs_left_running_are_told_and_right_work_is_not_accused(sandbox, code, found):
    if sandbox is None and "&" in code:
        pytest.skip("who has lost its parent belongs to nobody where there is no sandbox")
    with StudentKernel(MODULE, sandbox) as started:
        status, text = run(started, code)
    assert status == "ok", text
    assert started.flags == ([f"{LEFT_BEHIND}: {found}"] if found else [])


def test_an_endless_loop_is_interrupted_and_one_that_ignores_it_is_killed(kernel):
    assert run(kernel, "while True: pass", 0.5)[0] == "timeout"
    assert run(kernel, "1")[0] == "ok"
    stubborn = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    assert run(kernel, stubborn, 0.5)[0] == "timeout" and run(kernel, "1")[0] == "ok"


def test_compiled_kernels_are_copied_in_and_come_out_only_when_asked(tmp_path):
    compile_one = "import os\nfrom tinygrad_cl.opencl import default_device\ndefault_device()\nopen(os.environ['POCL_CACHE_DIR'] + '/planted', 'w')"
    with StudentKernel(MODULE, Sandbox(str(tmp_path), fill=False)) as started:
        run(started, compile_one, 60)
    assert not list(tmp_path.iterdir()), "a submission cannot plant a kernel for the next one"
    with StudentKernel(MODULE, Sandbox(str(tmp_path), fill=True)) as started:
        run(started, compile_one, 60)
    assert (tmp_path / "planted").exists()
    with StudentKernel(MODULE, Sandbox(str(tmp_path))) as started:
        assert run(started, "import os; os.path.exists(os.environ['POCL_CACHE_DIR'] + '/planted')") == ("ok", "True")


def test_without_bubblewrap_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda name: None)
    why_not.cache_clear()
    try:
        assert "apt-get install bubblewrap" in why_not() and "--no-sandbox" in why_not()
    finally:
        why_not.cache_clear()
