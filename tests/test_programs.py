"""Compiling OpenCL C: with the declarations that a program needs, the same numbers and the same messages."""

import re
from types import SimpleNamespace

import numpy as np
import pyopencl as cl
import pytest

from tinygrad_cl.opencl import default_device, find_devices, find_fault
from tinygrad_cl.opencl.programs import PACKAGE, build, declarations, header_of, lines_of

HEADER = """#ifndef _OPENCL_H_
#define _OPENCL_H_
#include "opencl-c-base.h"
/* sin(x) in a comment;
   over two lines */
#define LONG(a) \\
    (a)
#ifdef cl_khr_fp64
double sin(double); // of a double
#endif
float sin(float
    x);
float2 __attribute__((x)) sin(float2);
float cos(float);
#endif //_OPENCL_H_
"""


@pytest.fixture
def header(tmp_path):
    path = tmp_path / "opencl-c.h"
    path.write_text(HEADER)
    return path


def test_a_program_gets_every_overload_of_the_names_it_contains(header):
    text = declarations(header, "x = sin(y);")
    assert text.count("sin(") == 3 and "cos" not in text and "comment" not in text and "base" not in text
    assert "_OPENCL_H_" not in text and text.count("#if") == text.count("#endif") == 2
    assert "cos(float)" in declarations(header, "cos")
    assert "sin(" not in declarations(header, "sine asin")


def test_the_header_of_pip_is_that_of_pips_driver(monkeypatch, tmp_path, header):
    include = tmp_path / ".libs/share/pocl/include"
    include.mkdir(parents=True)
    header.rename(include / "opencl-c.h")
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: spec if name == PACKAGE else None)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "3.0")

    def found(platform="Portable Computing Language", version="3.0-rc2"):
        return header_of(SimpleNamespace(platform=SimpleNamespace(name=platform), driver_version=version))

    assert found() == include / "opencl-c.h"
    assert found(platform="NVIDIA CUDA") is found(version="6.0") is None
    (include / "opencl-c.h").unlink()
    assert found() is None
    spec.origin = None
    assert found() is None


def test_the_header_of_debian_is_that_of_debians_driver(monkeypatch, header):
    monkeypatch.setattr("tinygrad_cl.opencl.programs.DEBIAN", header)
    device = SimpleNamespace(platform=SimpleNamespace(name="Portable Computing Language"), driver_version="3.1+debian")
    assert header_of(device) == header
    device.driver_version = "7.1"
    assert header_of(device) is None


WORKING = [device for device in find_devices() if not find_fault(device) and "Oclgrind" not in device.name]
devices = pytest.mark.parametrize("device", WORKING, ids=lambda device: device.name)
FUNCTIONS = "exp log sin cos tanh sqrt rsqrt erf fabs floor native_exp half_sqrt"
KERNELS = {
    "functions": "".join(f"out[i] += {name}(a[i]);" for name in FUNCTIONS.split()),
    "vectors": "float4 v = vload4(i % 16, a); out[i] = dot(v, v) + convert_int4(v).x + as_int(v.y) % 7 + fma(v.x, v.y, v.z);",
    "a name put together": "out[i] = vloadn(2, i, a).y;",
    "the preprocessor's own": "out[i] = isnan(NAN) + M_PI_F + FLT_MAX / 2 + (float)__OPENCL_C_VERSION__;",
    "a name of the student's": "out[i] = step3(a[i]) + my_sin(a[i]);",
    "a group": "__local float t[4]; t[i % 4] = a[i]; barrier(CLK_LOCAL_MEM_FENCE); out[i] = t[i % 4];",
    "atomics": "volatile __global int *p = (volatile __global int *)(out + i); atomic_add(p, 3);",
}
START = """
#define vloadn(n, i, p) vload##n(i, p)
float step3(float x) { return step(3.0f, x); }
float my_sin(float x) { return sin(x) * 2; }
__kernel void k(__global const float *a, __global float *out) { int i = get_global_id(0); %s }
"""


def run(device, program):
    a = np.linspace(0.1, 4, 128, dtype=np.float32)
    out = np.zeros(64, np.float32)
    flags = cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(device.context, cl.mem_flags.READ_WRITE | flags, hostbuf=array) for array in (a, out)]
    program.k(device.queue, out.shape, (4,), *buffers)
    cl.enqueue_copy(device.queue, out, buffers[1])
    return out


@devices
@pytest.mark.parametrize("name", KERNELS)
def test_the_numbers_are_those_of_the_whole_header(device, name):
    source = START % KERNELS[name]
    whole = run(device, cl.Program(device.context, source).build())
    assert whole.any() and run(device, build(device.context, source)).tobytes() == whole.tobytes()


@devices
@pytest.mark.parametrize("wrong", ["out[i] = exq(a[i]);", "out[i] = exp(a[i], 2)", "#error stop", "out = sin;"])
def test_messages_of_the_compiler_are_those_of_the_source_alone(device, wrong):
    source = START % f"\n{wrong}\n"
    said = []
    for compile in (lambda: cl.Program(device.context, source).build(), lambda: build(device.context, source)):
        with pytest.raises(cl.RuntimeError) as error:
            compile()
        # Each is compiled from a temporary file; its name differs, the line and column in it do not.
        said.append(re.findall(r"error: .*?(?:\.cl)?(:.*)", str(error.value)))
    assert said[0] == said[1] and said[0]


@pytest.mark.skipif(not header_of(default_device().handle), reason="another driver: it has no such header")
def test_programs_are_compiled_without_the_header(monkeypatch):
    """The declarations reach the compiler, and programs with them have no error; else nothing would be gained."""
    device, texts = default_device(), []

    class Program(cl.Program):
        def __init__(self, context, text):
            texts.append(text)
            super().__init__(context, text)

    monkeypatch.setattr("tinygrad_cl.opencl.programs.cl.Program", Program)
    plain = [name for name in KERNELS if "put together" not in name]
    sources = [START % KERNELS[name] for name in plain]
    for source in sources:
        build(device.context, source.replace("vload##n", "vload4"))
    assert len(texts) == len(sources) and all(len(text) < 100_000 for text in texts)
    header = header_of(device.handle)
    names = [name for name, _ in lines_of(header) if name]
    assert len(names) > 10_000 and {"exp", "vload16", "barrier"} <= set(names)
