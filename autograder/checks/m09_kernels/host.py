"""Check 1 of lesson 09: the host side."""

from autograder.checks.cases import Draft, Source, Text
from autograder.checks.check import exercise
from autograder.checks.m09_kernels.launches import numbers

host = exercise("kernels.host", "Three arrays through a kernel that the check brings along.", seconds=30)


def launch(n, group, more, rng, twice=False):
    """n work-items are needed; a and b have `more` numbers than that, which stay as they are. Twice: b is a."""
    times = {"queued": int(rng.integers(1000, 9000)), "start": int(rng.integers(10**9, 10**12))}
    arrays = {name: numbers(size, rng) for name, size in (("a", n + more), ("b", n + more), ("last", 2))}
    arrays["last"] = Text(f"{arrays['last'].expression}.reshape(1, 2)")
    if twice:
        arrays["b"] = Text("a")
    return Draft(arrays | {"n": n, "group": group, "took": int(rng.integers(10**5, 10**7))} | times)


SIZES = ((1, 4, 0), (4, 4, 0), (5, 4, 0), (3, 4, 2), (12, 4, 0), (9, 4, 0), (1, 13, 0), (26, 13, 1), (27, 13, 0))
LAUNCHES = Source(
    lambda rng: (launch(*size, rng, twice=size == (5, 4, 0)) for size in SIZES),
    lambda rng: launch(int(rng.integers(1, 60)), int(rng.choice([4, 13])), int(rng.integers(3)), rng),
)


@host.aspect("the arrays, the seconds, the launch", 2, cases=LAUNCHES, few=12, many=40, rtol=1e-5, atol=1e-12)
def run(student, case, tools):
    from types import SimpleNamespace

    from tinygrad_cl.opencl.kernels import build_kernel

    real = build_kernel(
        """
        __kernel void add_triple(__global const float *a, __global float *b, __global float *last, const int n) {
            int i = get_global_id(0);
            if (i < n) b[i] += 3 * a[i];
            if (i == 0) last[0] = n;
        }""",
        "add_triple",
    )
    launches = []

    class Receipt:
        def __init__(self, event):
            self.event, self.wait = event, event.wait
            queued, submit = case.start - case.queued, case.start - case.queued // 2
            self.profile = SimpleNamespace(queued=queued, submit=submit, start=case.start, end=case.start + case.took)

        def __getattr__(self, name):
            return getattr(self.event, name)

    def kernel(queue, work_items, local_size, *arguments, **options):
        launches.append(list(work_items) + list(local_size or [0]))
        rounded = -(-work_items[0] // case.group) * case.group  # a device may refuse another number, or not
        room = min((buffer.size // 4 for buffer in arguments[:2] if hasattr(buffer, "size")), default=0)
        if len(arguments) == 4 and arguments[3] > room:  # the kernel would write beyond its buffers: Python would die
            raise ValueError(f"n = {arguments[3]}: the kernel would write beyond its arrays of {room} numbers")
        return Receipt(real(queue, (rounded,), local_size, *arguments, **options))

    given = [case.a, case.b, case.last]
    results, seconds = student.run_on_device(tools.device(), kernel, given, case.n, case.group)
    return {
        "a": results[0],
        "b": results[1],
        "last": results[2],
        "seconds": seconds,
        "work-items and group of each launch": launches,
        "results that are the caller's arrays": sum(now is then for now in results for then in given),
    }


host.mistake(
    "n is rounded down to whole groups, and not up",
    swap=("(n + local_size - 1) // local_size", "n // local_size or 1"),
    hint="10 numbers in groups of 4: two groups leave two numbers out.",
)
host.mistake(
    "the kernel is told the number of work-items started, not n",
    swap=("np.int32(n)", "np.int32(groups * local_size)"),
    hint="More work-items start than are needed. By which number does the kernel tell which of them have work?",
)
host.mistake(
    "where n fills its groups, one group more is started",
    swap=("(n + local_size - 1) // local_size", "n // local_size + 1"),
    hint="What does your line give for n = 12 in groups of 4? Three groups are enough.",
)
host.mistake(
    "n work-items are started, which is no whole number of groups",
    swap=("(groups * local_size,)", "(n,)"),
    hint="The number of work-items is a multiple of the group's.",
)
host.mistake(
    "the number of groups is passed for the number of work-items",
    swap=("(groups * local_size,)", "(groups * 1,)"),
    hint="OpenCL wants work-items in all, not groups. (CUDA wants groups.)",
)
host.mistake(
    "the group's size is left to the driver",
    swap=("(local_size,), *buffers", "None, *buffers"),
    hint="The third argument of the call is the size of a group, as a tuple.",
)
host.mistake(
    "nanoseconds come back as seconds", swap=("1e-9 * (event", "1.0 * (event"), hint="A second has 10⁹ nanoseconds."
)
host.mistake(
    "microseconds come back as seconds",
    swap=("1e-9 * (event", "1e-3 * (event"),
    hint="Nanoseconds to seconds: times 10⁻⁹.",
)
host.mistake(
    "the time in the queue is counted, too",
    swap=("event.profile.start", "event.profile.queued"),
    hint="From `start` to `end`: what happened between `queued` and `start` is waiting.",
)
host.mistake(
    "the time is negative: start minus end",
    swap=("event.profile.end - event.profile.start", "event.profile.start - event.profile.end"),
    hint="The end is the larger one.",
)
host.mistake(
    "the results are copied into the caller's arrays",
    swap=("[np.empty_like(array) for array in arrays]", "list(arrays)"),
    hint="The caller's arrays stay as they are. Copy into `np.empty_like(array)`.",
)
host.mistake(
    "nothing is copied back: the results are what went in",
    swap=(
        "for result, buffer in zip(results, buffers):\n        cl.enqueue_copy(device.queue, result, buffer)",
        "for result, array in zip(results, arrays):\n        result[:] = array",
    ),
    hint="What a kernel writes is in the device's buffer until somebody copies it: `cl.enqueue_copy(queue, array, buffer)`.",
)
host.mistake(
    "only the last array comes back",
    swap=("return results,", "return results[-1:],"),
    hint="An array comes back for each one that went in.",
)
host.mistake(
    "the kernel gets zeros in place of the arrays' numbers",
    swap=("hostbuf=array)", "hostbuf=0 * array)"),
    hint="A buffer starts with the array's numbers: `hostbuf=array` and COPY_HOST_PTR.",
)
host.variant(
    "copied by hand, with a loop over arrays",
    source="""
def run_on_device(device, kernel, arrays, n, local_size):
    buffers = []
    for array in arrays:
        buffer = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, array.nbytes)
        cl.enqueue_copy(device.queue, buffer, array)
        buffers.append(buffer)
    work_items = n if n % local_size == 0 else n + local_size - n % local_size
    event = kernel(device.queue, (work_items,), (local_size,), *buffers, np.int32(n))
    device.queue.finish()
    copies = [array.copy() for array in arrays]
    for i in range(len(arrays)):
        cl.enqueue_copy(device.queue, copies[i], buffers[i])
    return tuple(copies), (event.profile.end - event.profile.start) / 10**9
""",
)
host.variant(
    "without a wait of its own: copying back waits for what is in the queue before", swap=("event.wait()", "pass")
)
host.variant(
    "READ_WRITE left out: it is what buffers are unless somebody says otherwise",
    swap=("cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR", "cl.mem_flags.COPY_HOST_PTR"),
)
host.variant("rounded up with ceil", swap=("(n + local_size - 1) // local_size", "int(np.ceil(n / local_size))"))
host.variant(
    "USE_HOST_PTR on copies",
    swap=[
        (
            "[cl.Buffer(device.context, flags, hostbuf=array) for array in arrays]",
            "[cl.Buffer(device.context, flags, hostbuf=array.copy()) for array in arrays]",
        )
    ],
)
