"""runtime.profile: what ran, when, and for how long."""

import gc

import numpy as np
import pyopencl as cl
import pytest
from netcl_devices import put

from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.memory import SLACK
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import compute, compute_into, formula_of
from tinygrad_cl.netcl.ops.matmul import matmul
from tinygrad_cl.netcl.runtime import capture, profile

TWICE = formula_of("2 * v0", 1)


def test_every_command_is_seen_in_order_with_its_times(device):
    x = Tensor.full(device.queue, (1000,), 1)
    with profile() as p:
        compute_into(x, TWICE, (x,))
        device.fill(x.buffer, np.float32(3), x.nbytes)
        x.write(np.ones(1000))
        compute_into(x, TWICE, (x,))
        x.to_host()
    compute_into(x, TWICE, (x,))
    assert [each.name for each in p.records] == ["elementwise_kernel", "fill", "write", "elementwise_kernel", "read"]
    assert p.records[0].queued == 0
    for record in p.records:
        assert 0 <= record.queued <= record.start <= record.end
        assert record.duration_ms == pytest.approx(1e3 * (record.end - record.start))
        assert 4000 <= record.nbytes < 1.1 * (4000 + SLACK)
    assert all(first.end <= second.start for first, second in zip(p.records, p.records[1:]))
    assert 0 < p.busy < p.wall
    assert p.timeline()[3] == (
        "elementwise_kernel",
        *[getattr(p.records[3], name) for name in ("queued", "start", "end")],
    )


def test_totals_add_up_the_longest_first(device):
    x, y = put(device, np.ones((64, 32), np.float32), np.ones((32, 8), np.float32))
    matmul(x, y)
    with profile() as p:
        for _ in range(3):
            product = matmul(x, y)
        compute_into(product, TWICE, (product,))
        product.copy()
    totals = {name: (count, seconds, nbytes) for name, count, seconds, nbytes in p.totals()}
    assert sum(count for count, _, _ in totals.values()) == len(p.records)
    assert sum(seconds for _, seconds, _ in totals.values()) == pytest.approx(p.busy)
    assert (totals["elementwise_kernel"][0], totals["copy"][0]) == (1, 1)
    assert any(name.startswith("matmul") and row[0] == 3 for name, row in totals.items())
    times = [row[2] for row in p.totals()]
    assert times == sorted(times, reverse=True)


def test_the_table_is_text_with_a_line_for_each_name(device):
    x = Tensor.full(device.queue, (50000,), 1)
    with profile() as p:
        for _ in range(12):
            compute_into(x, TWICE, (x,))
        device.fill(x.buffer, np.float32(0), 8)
    *rows, last = p.table().splitlines()
    head, cells = rows[0].split("  "), {row.split()[0]: row.split() for row in rows[1:]}
    assert [word for word in map(str.strip, head) if word] == ["count", "total µs", "share", "µs each", "MB each"]
    assert set(cells) == {"elementwise_kernel", "fill"} and len({len(row) for row in rows}) == 1
    name, count, total, share, each, size = cells["elementwise_kernel"]
    assert count == "12" and 0.2 <= float(size) < 0.25
    assert float(total) == pytest.approx(12 * float(each), abs=1)
    assert sum(int(row[3].rstrip("%")) for row in cells.values()) in (99, 100, 101)
    assert last.startswith("13 commands ran ") and f"busy {p.busy / p.wall:.0%} of the time" in last


def test_a_replay_is_seen_as_the_run_that_was_recorded(device):
    w = Tensor.full(device.queue, (100,), 1)

    @capture
    def step(x):
        compute_into(w, formula_of("v0 + v1", 2), (w, compute(TWICE, (x,))))

    seen = []
    for number in range(5):
        x = Tensor.full(device.queue, (100,), 1)
        with profile() as p:
            step(x)
        kernels = [each for each in p.records if each.name.endswith("_kernel")]
        seen.append([(each.name, each.nbytes) for each in kernels])
        assert all(each.end > each.start >= 0 for each in kernels)
    assert seen == seen[:1] * 5 and len(seen[0]) == 2
    assert step.num_launches == 2


def test_no_memory_is_held(device):
    x = Tensor.full(device.queue, (1000,), 1)
    gc.collect()
    before = device.pool.used_bytes()
    with profile():
        for _ in range(20):
            compute(TWICE, (x,))
        assert device.pool.used_bytes() == before


def test_profiles_nest_and_end_with_an_exception(device):
    x = Tensor.full(device.queue, (10,), 1)
    with pytest.raises(KeyError), profile() as outer:
        compute_into(x, TWICE, (x,))
        with profile() as inner:
            compute_into(x, TWICE, (x,))
        raise KeyError
    assert (len(outer.records), len(inner.records)) == (0, 1) and not device.watched
    assert "0 commands" in repr(outer) and "1 command," in repr(inner)


def test_nothing_is_a_table_too():
    with profile() as p:
        pass
    assert p.records == [] == p.timeline() and "busy 0%" in p.table()


def test_a_queue_without_times_is_refused():
    queue = cl.CommandQueue(manager.default("auto").context)
    x = Tensor.full(queue, (10,), 1)
    with profile():
        pass  # it is not used
    with pytest.raises(RuntimeError, match="takes no times: make it with properties="), profile():
        compute_into(x, TWICE, (x,))
