"""Attacks on the grader, by name: what a hostile notebook does, and what it must not gain.

Each is a real submission: the blank notebook of 01_value, or a wrong one, with hostile cells. An honest notebook as far
as that one earns nothing, or only what its own right cells earn.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

import nbformat

from autograder.grading.sample_class import MODULE, NEEDLE, blank, check_cell, exercise_cell, solved, with_mistake
from autograder.judge.kernel import LEFT_BEHIND, NO_MESSAGE, RECORDS_OF_A_CELL, TWO_ANSWERS

CANARY = "canary-7f3a"  # stands in every place that a submission must not read

RECORDS = """
import base64, io, json
import numpy as np
from IPython import get_ipython
MIME = "application/x-course-records+json"
NAMES = {names!r}

def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return base64.b64encode(buffer.getvalue()).decode()

def send(trials):
    get_ipython().display_pub.publish({{MIME: trials if isinstance(trials, str) else json.dumps(trials)}})

def all_names(record, trials=60):
    return [{{name: record for name in NAMES}}] * trials
"""
HOOK = """
def answer(*_):
    {body}
get_ipython().events.register("post_run_cell", answer)
"""


@dataclass(frozen=True)
class Attack:
    """make   the notebook
    flag    part of what the report says of it; "" where it cannot be told from right work
    honest  the notebook without the attack, if that one earns anything; None: it earns nothing
    """

    make: Callable
    flag: str = ""
    honest: Callable | None = None


def with_cell(code: str, notebook=None):
    """A notebook, by default the blank one, with a cell before its first check."""
    notebook = notebook or blank()
    first = next(
        i for i, cell in enumerate(notebook.cells) if cell.metadata.get("course", {}).get("kind") == "exercise"
    )
    notebook.cells.insert(first, nbformat.v4.new_code_cell(code, id="attack"))
    return notebook


def cell(code: str, flag: str = "") -> Attack:
    return Attack(lambda: with_cell(code), flag)


def names() -> list[str]:
    """The labels of all checks of the module: they stand in the recordings that every student has."""
    return sorted({label for _, cases in recorded() for case in cases for label in case})


def recorded() -> list[tuple[list[str], list[dict]]]:
    """(observations, what the reference gives in each case) of each check of the module, as they lie beside the checks."""
    from autograder.checks import find
    from autograder.judge import recorded
    from autograder.lesson.text import read_lesson

    checks = [find(exercise) for exercise in read_lesson(MODULE).exercises]
    return [
        (
            [aspect.source for aspect in check.aspects],
            [case or {} for case in recorded.recorded(check)[recorded.REFERENCE]["cases"]],
        )
        for check in checks
    ]


def forged(body: str, flag: str = TWO_ANSWERS) -> Attack:
    """After each check, send something else."""
    return Attack(
        lambda: with_cell(RECORDS.format(names=names()) + HOOK.format(body=body.replace("\n", "\n    "))), flag
    )


def forged_array(expression: str) -> Attack:
    return forged(f"send(all_names({{'array': {expression}}}))")


def header(text: str) -> str:
    """An npy file with that header, in base64, as an expression."""
    return (
        f'base64.b64encode(b"\\x93NUMPY\\x01\\x00" + len({text!r}).to_bytes(2, "little") + {text!r}.encode()).decode()'
    )


def hard_coded():
    """The recorded outcomes of the reference, sent for each check, which is known by its observations."""
    code = (
        RECORDS.format(names=[])
        + f"RECORDED = json.loads({json.dumps(recorded())!r})\n"
        + """
import builtins
ORIGINAL = builtins.compile
SOURCES = []
def compile(source, filename, *rest, **named):
    if filename == "<observe>":
        SOURCES.append(source)
    return ORIGINAL(source, filename, *rest, **named)
builtins.compile = compile
def answer(*_):
    for sources, cases in RECORDED:
        if SOURCES and set(SOURCES) >= set(sources):
            send([packed(case) for case in (cases * 5)[:240]])
            SOURCES.clear()
def packed(case):
    return {label: {"error": record} if "error" in record else {"array": npy(np.array(record["of"][1] if "of" in record else record.get("value", 0)))}
            for label, record in ((label, record if isinstance(record, dict) else {"value": record}) for label, record in case.items())}
get_ipython().events.register("post_run_cell", answer)
"""
    )
    return with_cell(code)


def measured_product():
    """Solved, but the local derivatives of the product are measured: right marks, and worth a look."""
    notebook = solved()
    cell = exercise_cell(notebook)
    slopes = "tuple((p(h) - p(-h)) / (2 * h) for p in (lambda e: (self.data + e) * other.data, lambda e: self.data * (other.data + e)))"
    cell.source = cell.source.replace(NEEDLE, NEEDLE + "    h = 1e-5\n").replace("(other.data, self.data)", slopes)
    return notebook


def edited(change) -> Callable:
    """The notebook with a mistake, after change(notebook)."""

    def make():
        notebook = with_mistake(0)
        return change(notebook) or notebook

    return make


def on_wrong(change, flag: str = "") -> Attack:
    return Attack(edited(change), flag, honest=lambda: with_mistake(0))


def points_raised(notebook):
    for each in notebook.cells:
        if "nbgrader" in each.metadata:
            each.metadata.nbgrader |= {"points": 1000, "grade": True, "locked": False}


def grade_ids_alike(notebook):
    for each in notebook.cells:
        if "nbgrader" in each.metadata:
            each.metadata.nbgrader["grade_id"] = check_cell(notebook).metadata.nbgrader.grade_id


def grade_id_that_climbs(notebook):
    exercise_cell(notebook).metadata.nbgrader["grade_id"] = "../../../../etc/passwd"
    check_cell(notebook).metadata.nbgrader["grade_id"] = "check-vаlue-mul"  # with a Cyrillic а


def verdict_in_metadata(notebook):
    verdict = {"status": "ok", "points": 1000, "max_points": 2, "mistake": ""}
    notebook.metadata["course"] = {"graded": {"seconds": 0}, "flags": [], "invalid": ""}
    for each in notebook.cells:
        each.metadata["course"] = dict(each.metadata.get("course", {})) | {"verdict": verdict}


def kernelspec_that_runs_a_command(notebook):
    notebook.metadata["kernelspec"] = {
        "name": "../../bin/sh",
        "display_name": "sh",
        "language": "bash",
        "argv": ["sh", "-c", "touch /tmp/owned"],
    }
    notebook.metadata["language_info"] = {"name": "bash"}


def check_cell_that_sets_points(notebook):
    check_cell(notebook).source = "1000"
    check_cell(notebook).outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "1000"}, execution_count=1)]


# Reads all that it finds, and shows what has the canary in it, or a line of the reference.
SEARCH = """
import os, sys
found = []
places = ["/work", "/home", "/root", "/tmp", "/var", "/srv", "/mnt", "/opt", "/etc", "/course", "/dev/shm", "/run", os.path.expanduser("~"),
          "../..", *[p for p in sys.path if p], "/proc/1/root", "/proc/1/cwd"]
for place in places:
    for folder, _, files in os.walk(place):
        for name in files:
            path = os.path.join(folder, name)
            try:
                if os.path.getsize(path) > 10**6 or not path.endswith((".py", ".ipynb", ".json", ".db", ".csv", ".pyc", ".pth", "seed", ".txt")):
                    continue
                text = open(path, "rb").read()
            except OSError:
                continue
            if b"canary" + b"-7f3a" in text or b"def topological_" + b"order" in text and b"autograder" not in path.encode():
                found.append((path, text[:3000]))
print(found)
"""
PROC = """
import glob
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline") + glob.glob("/proc/*/maps") + ["/proc/self/mountinfo"]:
    try:
        print(path, open(path, "rb").read()[:20_000])
    except OSError as error:
        print(error)
import os
print(dict(os.environ))
"""
FRAMES = """
import gc, inspect, sys
def look(*_):
    seen = []
    for frame in inspect.stack():
        seen.append(str({name: str(value)[:300] for name, value in frame.frame.f_locals.items()}))
    for thing in gc.get_objects():
        if isinstance(thing, dict) and ("expected" in thing or "seed" in thing or "reference" in thing):
            seen.append(str(thing)[:300])
    print(seen)
class Value:
    def __init__(self, *_, **named):
        look()
    def __getattr__(self, name):
        look()
"""
EQUAL = """
class Everything(float):
    __array_ufunc__ = None
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __call__(self, *_, **__): return self
    def __getattr__(self, name): return self
    def __iter__(self): return iter(())
    def __array__(self, *_, **__): return self
    for name in "add sub mul truediv pow neg radd rsub rmul rtruediv rpow abs lt le gt ge".split():
        exec(f"def __{name}__(self, *_): return self")
class Value(Everything):
    def __new__(cls, *_, **__): return Everything.__new__(cls, 1.0)
    def __init__(self, *_, **__): pass
topological_order = slope = gradcheck = as_value = lambda *_, **__: Everything(1.0)
"""
GARBAGE = """
import json, os, threading, time
kernel = get_ipython().kernel
def rubbish(*_):
    raw, session, parent = kernel.iopub_socket, kernel.session, kernel.get_parent()["header"]
    parts = [[b"x"], [b"k", b"<IDS|MSG>"], [b"k", b"<IDS|MSG>", b"sig", b"{}", b"{}", b"{}", b"{}"], [b""], [b"k", b"<IDS|MSG>"] + [b"["] * 5]
    for part in parts:
        raw.send_multipart(part)
    packs = [session.pack(parent), b"[]", b"3", b"null", b"[" * 5000, b'{"msg_id": []}', b'"text"']
    contents = [b"[]", b"3", b"null", b"{}", b'{"data": 3}', b'{"data": {"text/html": 3, "image/png": [1]}, "metadata": 4}',
                b'{"text": 5, "name": 7}', b'{"execution_state": ["idle"]}', b'{"traceback": 3, "ename": null, "evalue": []}']
    for kind in ("status", "stream", "display_data", "execute_result", "error", "update_display_data", "clear_output", "comm_open", "x" * 9999):
        for parent_pack in packs:
            for content in contents:
                try: header = session.pack(session.msg_header(kind))
                except Exception: continue
                body = [header, parent_pack, b"{}", content]
                raw.send_multipart([b"x", b"<IDS|MSG>", session.sign(body)] + body)
get_ipython().events.register("post_run_cell", rubbish)
rubbish()
"""
IDLE = """
kernel = get_ipython().kernel
def idle(*_):
    kernel.session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, parent=kernel.get_parent())
get_ipython().events.register("pre_run_cell", idle)
"""
SOCKETS = """
import os, glob
for path in glob.glob("socket*") + glob.glob("connection*"):
    try: os.remove(path)
    except OSError as error: print(error)
    try: os.symlink("/run/docker.sock", path)
    except OSError as error: print(error)
"""
CLIENT = """
import glob, json
from jupyter_client import BlockingKernelClient
own = [path for path in glob.glob("*.json") + glob.glob("../*/*.json") if "connection" in path]
for path in own:
    client = BlockingKernelClient(connection_file=path)
    client.load_connection_file()
    client.start_channels()
    client.execute("print('" + "canary" + "-7f3a')" if not path.startswith("connection") else "1")
    client.shutdown()
"""
FORK_ANSWERS = """
import os
if os.fork() == 0:
    import time
    kernel = get_ipython().kernel
    for _ in range(20):
        try: kernel.session.send(kernel.iopub_socket, "display_data", {"data": {"application/x-course-records+json": "[{}]"}, "metadata": {}},
                                 parent=kernel.get_parent())
        except Exception: pass
        time.sleep(0.1)
    os._exit(0)
"""
THREAD = """
import threading, time
def forever():
    while True:
        for name in list(globals()):
            if name == "Value":
                globals()["Value"] = lambda *_, **__: 1.0
        time.sleep(0.001)
threading.Thread(target=forever, daemon=True).start()
"""
FLOOD = (
    "import threading\ndef flood():\n    from IPython.display import display, HTML\n    while True: display(HTML('<b>' * 1000))\n"
    "threading.Thread(target=flood, daemon=True).start()"
)
DAEMON = """
import os, subprocess, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True: time.sleep(1)
    os._exit(0)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
"""
BROKEN_NAMES = "import builtins, {module} as m\nm.{name} = lambda *_, **__: {result}"


def replaced(module: str, name: str, result: str = "None") -> Attack:
    return cell(BROKEN_NAMES.format(module=module, name=name, result=result))


ATTACKS = {
    # objects, and what Python and IPython let be replaced
    "object equal to everything": cell(EQUAL),
    "input transformer drops the check": cell(
        "get_ipython().input_transformers_post.append(lambda lines: ['pass\\n'])"
    ),
    "AST transformer empties the check": cell(
        "import ast\nclass T(ast.NodeTransformer):\n    def visit_Module(self, node): node.body = []; return node\n"
        "get_ipython().ast_transformers.append(T())"
    ),
    "hook alters names before each check": cell(
        "def alter(*_): get_ipython().user_ns['Value'] = lambda *_, **__: 1.0\nget_ipython().events.register('pre_run_cell', alter)"
    ),
    "numpy.save writes ones": cell(
        "import numpy as np\nsave = np.save\nnp.save = lambda f, a, **k: save(f, np.ones_like(a), **k)"
    ),
    "base64 gives rubbish": replaced("base64", "b64encode", "b'%%%'"),
    "numpy.array gives one array": cell("import numpy as np\none = np.ones(3)\nnp.array = lambda *_, **__: one"),
    "numpy.random without chance": cell(
        "import numpy as np\nnp.random.default_rng = lambda seed: type('R', (), {'__getattr__': lambda s, n: lambda *a, **k: 1.0})()"
    ),
    "publish is replaced": cell("get_ipython().display_pub.publish = lambda *_, **__: None"),
    "exec is replaced": replaced("builtins", "exec"),
    "compile is replaced": replaced("builtins", "compile", "(lambda: None).__code__"),
    "import is replaced": replaced("builtins", "__import__"),
    "ModuleType is replaced": replaced("types", "ModuleType", "__import__('types').SimpleNamespace()"),
    "timers are replaced": cell(
        "import signal, time\nsignal.setitimer = lambda *_: None\ntime.process_time = time.monotonic = lambda: 0.0"
    ),
    "planted modules": cell(
        "import sys, types\nfor name in ('numpy', 'json', 'base64', 'inside', 'tools', 'types'):\n    sys.modules[name] = types.ModuleType(name)"
    ),
    "trace over everything": cell(
        "import sys, threading\ndef t(f, e, a):\n    if 'observe' in f.f_code.co_filename: f.f_locals['found'] = {}\n    return t\nsys.settrace(t)"
    ),
    "profile over everything": cell("import sys\nsys.setprofile(lambda *_: None)\nsys.setrecursionlimit(10**6)"),
    "frames and garbage": cell(FRAMES),
    "a thread goes on and overwrites": cell(THREAD),
    "atexit and __del__": cell(
        "import atexit\natexit.register(lambda: print('x'))\nclass D:\n    def __del__(self): raise SystemExit\nd = D(); d.self = d"
    ),
    # forged answers
    "records in a cell": Attack(
        lambda: with_cell(RECORDS.format(names=names()) + "send(all_names({'array': npy(np.ones(()))}))"),
        RECORDS_OF_A_CELL,
    ),
    "forged ones": forged_array("npy(np.ones(()))"),
    "forged zeros": forged_array("npy(np.zeros(()))"),
    "forged NaN": forged_array("npy(np.full((), np.nan))"),
    "forged infinity": forged_array("npy(np.full((), np.inf))"),
    "forged pickle": forged_array("npy(np.array([__import__('os').system], dtype=object))"),
    "forged structured dtype": forged_array("npy(np.zeros((), [('a', 'f8')]))"),
    "forged dates": forged_array("npy(np.zeros((), 'M8[s]'))"),
    "forged bytes": forged_array("npy(np.zeros((), 'V8'))"),
    "forged shape of billions": forged_array(
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}")
    ),
    "forged nothing in billions": forged_array(
        header("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,)}")
    ),
    "forged header, deeply nested": forged_array(header("(" * 9000)),
    "forged zip": forged_array("base64.b64encode(b'PK\\x03\\x04' + b'x' * 99).decode()"),
    "forged base64 rubbish": forged_array("'%%%'"),
    "forged with fewer trials": forged("send(all_names({'array': npy(np.ones(()))}, 1))"),
    "forged with more trials": forged("send(all_names({'array': npy(np.ones(()))}, 500))"),
    "forged time-outs": forged("send([{name: {'error': {'type': 'ProbeTimeout'}} for name in NAMES}])"),
    "forged missing": forged("send(all_names({'error': {'type': 'Missing', 'message': [[[[1]]]], 'where': {}}}))"),
    "JSON, deeply nested": forged("send('[' * 100_000)"),
    "JSON with a huge number": forged("send('[{\"a\": ' + '9' * 100_000 + '}]')"),
    "JSON that is no list of records": forged("send('[1, null, Infinity]')"),
    "long message of an error": forged(
        "send([{'': {'error': {'type': 'E', 'message': 'x' * 10**7}}} | record for record in all_names({'array': npy(np.zeros(()))})])"
    ),
    "the recorded answers": Attack(hard_coded, TWO_ANSWERS),
    "messages that are none": cell(GARBAGE, NO_MESSAGE),
    "idle before the end": cell(IDLE),
    "a fork answers": cell(FORK_ANSWERS),
    # other ways out
    "searches the disk": cell(SEARCH),
    "reads /proc": cell(PROC),
    "imports the reference": cell(
        "try:\n    import tinygrad_cl.scalar as s\nexcept ImportError:\n    import importlib.util, sys\n"
        "    s = importlib.util.find_spec('tinygrad_cl.scalar').loader.get_code('tinygrad_cl.scalar')\n    print(s.co_consts)\n"
        "from tinygrad_cl.scalar import *"
    ),
    "borrows another engine": cell(
        "from tinygrad_cl.traced import TracedValue as Value\nfrom tinygrad_cl.netcl.autograd import *\nfrom tinygrad_cl.tensor import *"
    ),
    "the editable install's finder": cell(
        "import sys, glob\nfor finder in sys.meta_path: print(getattr(finder, 'MAPPING', None), vars(sys.modules[type(finder).__module__]).get('MAPPING'))\n"
        "for path in [p for f in sys.path for p in glob.glob(f + '/__editable__*')]: print(open(path).read()[:500])\nimport autograder.judge"
    ),
    "writes where it must not": cell(
        "import site, sys\nfor path in ['/course/tinygrad_cl/viz/__init__.py', sys.prefix + '/x', *[p + '/x.pth' for p in site.getsitepackages()], '/usr/lib/x', '/etc/x']:\n"
        "    try: open(path, 'w').write('x'); print('canary' + '-7f3a', path)\n    except OSError: pass"
    ),
    "sockets replaced by links": cell(SOCKETS),
    "answers as a client": cell(CLIENT),
    "deletes its own folder": cell("import shutil, os\nshutil.rmtree(os.getcwd(), ignore_errors=True)"),
    "kills everybody": cell(
        "import os, signal\nfor pid in (1, -1, os.getppid()):\n    try: os.kill(pid, signal.SIGKILL)\n    except OSError: pass"
    ),
    "daemons": cell(DAEMON, LEFT_BEHIND),
    # the notebook file
    "measures its gradients": Attack(measured_product, "value.mul, a", honest=measured_product),
    "asks a library": cell("try:\n    import torch\nexcept ImportError:\n    torch = __import__('jax')", "imports jax"),
    "points raised": on_wrong(points_raised),
    "all grade_ids alike": on_wrong(grade_ids_alike),
    "a grade_id that climbs": on_wrong(grade_id_that_climbs),
    "a verdict in the metadata": on_wrong(verdict_in_metadata),
    "kernelspec that runs a command": on_wrong(kernelspec_that_runs_a_command),
    "a check that says 1000": on_wrong(check_cell_that_sets_points),
}

# Those that take more than a few seconds: until a limit stops them.
# e3: cleaning up must not depend on how deep it is
ATTACKS["1,500 nested folders"] = cell("import os\nfor _ in range(1500):\n    os.mkdir('d'); os.chdir('d')")

LONG_ATTACKS = {
    "json.dumps says nothing": replaced("json", "dumps", "'[{}]'"),
    "fork bomb": cell("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", "processes"),
    "memory bomb": cell(
        "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        x = bytearray(2**30)\n        for i in range(0, 2**30, 4096): x[i] = 1\n        time.sleep(60)\ntime.sleep(60)",
        "GiB of memory",
    ),
    "fills its folder": cell(
        "for i in range(10**6):\n    with open(f'f{i}', 'wb') as f: f.write(b'x' * 50 * 2**20)", "into /tmp"
    ),
    "a million files": cell("for i in range(10**6): open(f'f{i}', 'w').close()", "into /tmp"),
    "fills /tmp": cell("with open('/tmp/x', 'wb') as f:\n    while True: f.write(b'x' * 2**20)"),
    "endless output": cell("import sys\nwhile True: print('x' * 10**6); sys.stderr.write('y' * 10**6)"),
    "endless output past Python": cell("import os\nwhile True: os.write(1, b'x' * 10**6); os.write(2, b'x' * 10**6)"),
    "a display of 50 MB": cell("from IPython.display import display, HTML\ndisplay(HTML('<b>' * 17_000_000))"),
    "a flood of displays goes on": cell(FLOOD),
    "update_display for ever": cell(
        "from IPython.display import display, update_display\ndisplay(1, display_id='a')\nwhile True: update_display(2, display_id='a')"
    ),
    "stops itself": cell("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
    "blocks all signals": cell(
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "sleeps": cell("import time\ntime.sleep(10**6)"),
}
