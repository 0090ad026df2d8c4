"""The foreign suites: where they come from, which of their files run on which engine, and why the
others do not.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

CACHE = Path(os.environ.get("PEERS_CACHE") or Path.home() / ".cache" / "tinygrad-cl-course" / "peers")
# August 2026. tinygrad's packages on PyPI bring one file of tests along, test_tiny.
TINYGRAD = "a9069c177a9da9cca18593edf55acd2e6073cca6"
# On PyPI, tinytorch and minitorch are others' packages, needle is none, and mxnet comes without tests.
MXNET = "b84609d3fc73d20929c114eab95faaa56e6c5ede"
MINITORCH = "7d35d597ad226e73289e6920fbc1e83ea6148c8b"
NEEDLE = "6bc43891a731628a903b44eb888e65aa71f22fb3"
TINYTORCH = "02364f800abce3507cedbe9b5053078abd92b6d3"


@dataclass(frozen=True)
class Suite:
    """One suite on one of our engines.

    package       whose tests they are
    version       on PyPI, or a commit
    git           the address of its repository; "" where the package on PyPI brings its tests along
    parts         what is taken of the repository: its package would hide the adapter
    engine        1, 2 or 3
    files         that are run
    others        {files: why they are not}
    needs         modules that the tests import
    plugins       of pytest, from this folder
    failures      {test, or how its name begins: why it fails}
    slow          whether it takes minutes
    """

    package: str
    version: str
    engine: int
    files: tuple
    git: str = ""
    parts: tuple = ("test",)
    others: dict = field(default_factory=dict)
    needs: tuple = ()
    plugins: tuple = ()
    failures: dict = field(default_factory=dict)
    slow: bool = False

    @property
    def name(self):
        return f"{self.package}, {', '.join(Path(file).stem for file in self.files[:2])}" + (
            f" and {len(self.files) - 2} more" if len(self.files) > 2 else ""
        )

    @property
    def folder(self):
        return CACHE / f"{self.package}-{self.version[:12]}"

    def reason(self, test):
        """Why a test fails, in words; "" if nobody knows."""
        return next((words for name, words in self.failures.items() if test.startswith(name)), "")


def autograd_files():
    return tuple(
        f"tests/test_{name}.py"
        for name in [
            "scalar_ops",
            "binary_ops",
            "systematic",
            "numpy",
            "core",
            "graphs",
            "wrappers",
            "jacobian",
            "direct",
            "tests",
            "truediv",
            "list",
            "tuple",
            "dict",
            "builtins",
            "logic",
        ]
    )


def tinygrad(engine, failures=None, slow=False):
    return Suite(
        "tinygrad",
        TINYGRAD,
        engine,
        ("test/backend/test_ops.py", "test/backend/test_optim.py"),
        git="https://github.com/tinygrad/tinygrad",
        needs=("torch",),
        plugins=("tinygrad_helpers",),
        slow=slow,
        others={"the rest": "about tinygrad's compiler, devices and files"},
        failures=(failures or {})
        | {
            "test_ops.py::TestOps::test_sigmoid_alt_extreme": "e³⁰⁰ / (1 + e³⁰⁰) is ∞ / ∞, NaN, as in PyTorch; tinygrad's compiler rewrites it",
            "test_optim.py::TestOptim::test_assert_tensor_train": "our optimizers know no training mode",
            "test_optim.py::TestOptim::test_duped_weights": "a parameter that is given twice is an error here",
        },
    )


def minitorch(engine, file, others):
    return Suite(
        "minitorch",
        MINITORCH,
        engine,
        (f"tests/{file}.py",),
        git="https://github.com/minitorch/minitorch",
        parts=("tests", "minitorch/testing.py"),
        others=others,
    )


SUITES = [
    Suite("micrograd", "0.1.0", 1, ("test/test_engine.py",), needs=("torch",)),
    Suite(
        "autograd",
        "1.9.1",
        2,
        autograd_files(),
        plugins=("without_complex",),
        others={
            "test_complex, and the checks with complex numbers in the others": "engine 2 has no complex numbers (without_complex.py switches them off)",
            "test_fft, test_linalg, test_scipy": "engine 2 has no such functions",
            "test_misc": "retraces and flattens autograd's own graph",
            "test_ufunc_dispatch, test_vspaces": "about the insides of autograd, not about gradients",
            "test_performance": "holds no test",
        },
        failures={
            "test_numpy.py::test_plain_numpy_reductions_on_box": "numpy.sum of a box calls its method sum with out=",
            "test_numpy.py::test_cast_to_int": "numpy.int64 of a tensor that requires a gradient is refused",
            "test_systematic.py::test_std": "the deviation of one number is √0, whose slope is infinite: NaN, as in PyTorch",
            "test_wrappers.py::test_deprecated": "deprecated ways to define a rule",
            "test_wrappers.py::test_custom_where": "autograd's where, without a box, keeps Python's own types",
            "test_builtins.py::test_isinstance": "a box is no numpy.ndarray",
            "test_logic.py::test_nograd": "what depends on nothing has the gradient 0, and is no error",
        },
    ),
    tinygrad(
        2,
        failures={
            "test_ops.py::TestOps::test_slice_fancy_indexing_dim_collapse_int": "a number apart from an index array moves its axes to the front, as in NumPy"
        },
    ),
    tinygrad(3, slow=True),
    minitorch(1, "test_scalar", {"test_autodiff, test_operators": "about the insides of minitorch's engine"}),
    minitorch(
        2,
        "test_tensor",
        {
            "test_tensor_data, test_tensor_general": "about minitorch's strides and back ends",
            "test_conv, test_nn": "convolutions and pooling: engine 2 has none",
        },
    ),
    Suite(
        "mxnet",
        MXNET,
        2,
        ("tests/python/unittest/test_autograd.py",),
        git="https://github.com/apache/mxnet",
        parts=("tests/python/unittest/test_autograd.py",),
        others={"the rest": "about MXNet's operators, layers and devices"},
        failures={
            "test_autograd.py::test_gradient": "e in float32, by NumPy one unit in the last place above MXNet's",
            "test_autograd.py::test_retain_grad_drop_grad": "attach_grad makes a leaf of a result, as in MXNet 1; MXNet 2 keeps what it came from",
        },
    ),
    Suite(
        "needle",
        NEEDLE,
        2,
        ("tests/hw1/test_autograd_hw.py",),
        git="https://github.com/dlsyscourse/hw1",
        parts=("tests/hw1",),
        others={"hw2 to hw4": "layers, a back end of its own, convolutions: engine 2 has none"},
    ),
    Suite(
        "tinytorch",
        TINYTORCH,
        2,
        tuple(
            f"tests/05_autograd/test_{name}.py"
            for name in ("autograd_core", "batched_matmul_backward", "gradient_flow")
        ),
        git="https://github.com/MLSysBook/TinyTorch",
        parts=("tests/05_autograd",),
        others={
            "test_progressive_integration": "passes whatever there is: an import that fails counts as «not yet»",
            "the other modules": "about TinyTorch's layers, data and training",
        },
    ),
]


def fetch(suite):
    """Put the suite's sources into the cache, outside the checkout, if they are not there."""
    if suite.folder.exists():
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        ready = Path(folder) / "ready"
        ready.mkdir()
        (fetch_commit if suite.git else fetch_sdist)(suite, folder, ready)
        ready.rename(suite.folder)


def fetch_sdist(suite, folder, target):
    """The source distribution of the pinned version, from where pip finds packages."""
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-binary",
            ":all:",
            "--dest",
            folder,
            f"{suite.package}=={suite.version}",
        ],
        check=True,
    )
    (archive,) = Path(folder).glob("*.tar.gz")
    unpack(archive, folder)
    (unpacked,) = (each for each in Path(folder).iterdir() if each.is_dir() and each != target)
    for each in unpacked.iterdir():
        each.rename(target / each.name)


def fetch_commit(suite, folder, target):
    """The parts of one commit that the tests need."""
    git = ["git", "-C", folder]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "fetch", "--quiet", "--depth", "1", suite.git, suite.version], check=True)
    archive = Path(folder) / "test.tar"
    subprocess.run([*git, "archive", "--output", str(archive), suite.version, *suite.parts], check=True)
    unpack(archive, target)


def unpack(archive, folder):
    """By tar: in Python a safe way came only with 3.11.4, and Debian has 3.11.2."""
    subprocess.run(["tar", "--extract", "--file", str(archive), "--directory", str(folder)], check=True)
