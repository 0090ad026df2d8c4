"""What Oclgrind says of a kernel, in the words and lines of the one who wrote it."""

import ast
import doctest

import numpy as np
import pytest

from tinygrad_cl.opencl import NoDeviceError, default_device, oclgrind
from tinygrad_cl.opencl.kernels import KernelError, launch
from tinygrad_cl.opencl.oclgrind import faults_of, inspect_kernel
from tinygrad_cl.opencl.trial import tried, unset, watching

SOURCE = "\n__kernel void k(__global float *a)\n{\n    a[get_global_id(0)] = 1;\n}\n"
LOG = """
Invalid write of size 4 at global memory address 0x1000000000010
\tKernel: k
\tEntity: Global(4,0,0) Local(0,0,0) Group(4,0,0)
\t  store float 1.000000e+00, float addrspace(1)* %arrayidx, align 4
\tAt line 4 (column 25) of input.cl:
\t  a[get_global_id(0)] = 1;

Invalid write of size 4 at global memory address 0x1000000000014
\tKernel: k
\tEntity: Global(5,0,0) Local(0,0,0) Group(5,0,0)
\tAt line 4 (column 25) of input.cl:

Read-write data race at local memory address 0x1000000000000
\tKernel: k
\tFirst entity:  Global(1,2,0) Local(1,0,0) Group(0,0,0)
\tAt line 4 (column 14) of input.cl:
\tSecond entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\tAt line 3 (column 14) of input.cl:
"""


@pytest.fixture
def device():
    try:
        return default_device()
    except NoDeviceError as error:
        pytest.skip(str(error))


@pytest.fixture
def installed(device):
    if not oclgrind.is_installed():
        pytest.skip("Oclgrind is not installed")


def kernel(name):
    """The solved text of an exercise of lesson 09."""
    from autograder.lesson.text import read_lesson

    names = {}
    exec(read_lesson("09_kernels").exercise(name).solved, names)
    return next(text for text in names.values() if isinstance(text, str) and "__kernel" in text)


def numbers(n):
    return np.linspace(-2, 3, n, dtype=np.float32)


def test_the_example_in_the_docstring():
    assert doctest.testmod(oclgrind).failed == 0


def test_a_log_becomes_a_sentence_for_each_fault_and_line():
    write, race = faults_of(LOG, SOURCE)
    assert write == "line 4, `a[get_global_id(0)] = 1;`: writes outside the array (first work-item 4)"
    assert race.startswith("line 4, `a[get_global_id(0)] = 1;` and line 3, `{`: a data race in local memory")
    assert race.endswith("(first work-items (1, 2) and 0)")
    assert faults_of("", SOURCE) == []


def test_where_it_is_not_installed_it_says_how_to_get_it(device, monkeypatch):
    monkeypatch.setattr(oclgrind, "is_installed", lambda: False)
    found = inspect_kernel(SOURCE, "k", numbers(4), work_items=4)
    assert found == [] and "pip install oclgrind" in repr(found)
    shown = repr(inspect_kernel(SOURCE, "k", numbers(4), work_items=4, elsewhere="line 4: a race"))
    assert shown.endswith("What it said where it is installed:\nline 4: a race")


def test_a_kernel_that_does_not_build_says_so_first(device):
    with pytest.raises(KernelError, match="line 4"):
        inspect_kernel(SOURCE.replace("1;", "1"), "k", numbers(4), work_items=4)


TREE = "tree", numbers(100), np.zeros(2, np.float32), 100
LAUNCHES = {
    "kernels.bias_relu": (("bias_relu", numbers(15), numbers(5), numbers(15), 3, 5), (8, 4), (4, 4)),
    "kernels.lanes": (("bell", numbers(70), numbers(70), 70), 6, 1),
    "kernels.tree": (TREE, 128, 64),
    "kernels.chunks": (("chunks", numbers(100), numbers(4), 100, 37), 4, 1),
    "kernels.matmul": (("matmul", numbers(15), numbers(12), numbers(20), 5, 4, 3), (8, 8), (4, 4)),
    "kernels.blocked": (("blocked", numbers(80), numbers(160), numbers(16 * 32), 16, 32, 5), (2, 2), (1, 1)),
}


@pytest.mark.parametrize("name", LAUNCHES)
def test_the_lessons_kernels_are_without_fault(installed, name):
    arguments, work_items, local_size = LAUNCHES[name]
    assert inspect_kernel(kernel(name), *arguments, work_items=work_items, local_size=local_size) == []


@pytest.mark.parametrize(
    "name, old, new, said",
    [
        ("kernels.tree", "barrier(CLK_LOCAL_MEM_FENCE);", "", "a data race in local memory"),
        ("kernels.tree", "CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", "a data race in local memory"),
        (
            "kernels.tree",
            "part[me] = i < n ? x[i] : 0.0f;",
            "if (i < n) part[me] = x[i];",
            "uses a number that nobody has written",
        ),
        ("kernels.tree", "part[me] = i < n", "if (i >= n) return;\n    part[me] = i < n", "not all work-items"),
        ("kernels.lanes", "start + 16 <= n", "start < n", "writes outside the array"),
        ("kernels.bias_relu", "row < rows && ", "", "writes outside the array"),
    ],
)
def test_what_may_pass_by_luck_is_named(installed, name, old, new, said):
    arguments, work_items, local_size = LAUNCHES[name]
    source = kernel(name)
    assert old in source
    faults = inspect_kernel(source.replace(old, new), *arguments, work_items=work_items, local_size=local_size)
    assert any(said in fault and fault.startswith("line ") for fault in faults) and not faults.harmless


BENIGN = """
__kernel void k(__global float *a)
{
    int i = get_local_id(0);
    float other = i % 2 ? 0.0f : a[i + 1];
    a[i] += LATE;
}
"""


def test_a_race_in_which_nobody_reads_another_number_is_harmless_and_any_other_is_not(installed):
    same = inspect_kernel(BENIGN.replace("LATE", "0 * other"), "k", numbers(4), work_items=4, local_size=4)
    other = inspect_kernel(BENIGN.replace("LATE", "other + i"), "k", numbers(4), work_items=4, local_size=4)
    assert "a data race" in same[0] and same.harmless
    assert "a data race" in other[0] and not other.harmless


def test_a_read_before_the_guard_is_seen_though_a_compiler_moves_it(installed):
    source = kernel("kernels.bias_relu").replace(
        "if (row < rows && column < columns) {",
        "float read = x[row * columns + column];\n    if (row < rows && column < columns) {\n    ",
    )
    arguments, work_items, local_size = LAUNCHES["kernels.bias_relu"]
    (fault,) = inspect_kernel(
        source.replace("x[i] +", "read +"), *arguments, work_items=work_items, local_size=local_size
    )
    assert "reads what lies outside the array" in fault


def test_what_is_tried_under_its_eyes_is_inspected(installed):
    with watching() as seen:
        found = tried(SOURCE.replace("= 1;", "= a[4 + get_global_id(0)];"), "k", None, result=4, work_items=4)
    tried(SOURCE, "k", None, result=4, work_items=4)
    assert "reads what lies outside" in seen[0][0] and len(seen) == 1 and found["outside"] == 0


@pytest.mark.parametrize(
    "line, outside, out",
    [("a[get_global_id(0)] = 1;", 0, [1, 1, 1, 1]), ("a[get_global_id(0) + 2] = 1;", 2, [None, None, 1, 1])],
)
def test_what_a_kernel_leaves_behind(device, line, outside, out):
    found = tried(SOURCE.replace("a[get_global_id(0)] = 1;", line), "k", None, result=4, work_items=4)
    assert found["outside"] == outside and found["inputs changed"] == 0
    assert [number if wanted else None for number, wanted in zip(found["out"], out)] == out


def test_results_are_filled_with_what_the_seed_says_and_inputs_may_not_be_written(device):
    source = "__kernel void k(__global float *p, __global float *x, __global float *q) {int i = get_global_id(0); p[i] = 2 * x[i]; x[0] = 9;}"
    x = numbers(4)
    found = tried(source, "k", None, x, None, result=(4, 5), work_items=4, seed=3)
    rng = np.random.default_rng(3)
    _, filled = unset(4, rng), unset(5, rng)
    assert (found["out"][0] == [18, *2 * x[1:]]).all() or (found["out"][0] == 2 * x).all()
    assert np.array_equal(found["out"][1], filled, equal_nan=True) and found["inputs changed"] == 1


def test_memory_that_nobody_has_set_holds_large_numbers_and_nan():
    """0 times what is there is 0 for every number but NaN."""
    memory = unset(1000, np.random.default_rng(0))
    assert memory.dtype == np.float32 and 100 < np.isnan(memory).sum() < 300
    assert np.nanmax(abs(memory)) > 50 and not (memory == 0).any()


def test_launch_takes_arrays_and_numbers_in_the_kernels_order(device):
    source = "__kernel void f(const int n, __global float *a, const float s) { int i = get_global_id(0); if (i < n) a[i] *= s; }"
    assert (launch(source, "f", 3, numbers(4), 2.0, work_items=4)[0] == numbers(4) * [2, 2, 2, 1]).all()


def test_what_lesson_09_shows_where_it_is_not_installed_is_what_it_says_where_it_is(installed):
    from autograder.lesson.text import read_lesson

    cells = [cell.solved for cell in read_lesson("09_kernels").cells if cell.is_code]
    race = next(node.value.value for node in assigned(cells) if node.targets[0].id == "RACE")
    (call,) = [node for cell in cells for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.keyword)
               and node.arg == "elsewhere"]  # fmt: skip
    found = inspect_kernel(race, "race", np.ones(64, np.float32), np.zeros(1, np.float32), work_items=64, local_size=1)
    assert list(found) == [call.value.value] and not found.harmless


def assigned(cells):
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.Assign)]
    return [node for node in nodes if isinstance(node.targets[0], ast.Name)]
