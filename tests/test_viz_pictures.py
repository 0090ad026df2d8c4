"""The other pictures and plots: well-formed, complete, and the same text each time."""

import doctest
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tinygrad_cl.viz import (
    course,
    devices,
    draw_course,
    draw_devices,
    draw_launch,
    plot_boundary,
    plot_lines,
    plot_losses,
    plot_memory,
    plot_roofline,
    plot_step_size,
    plot_timeline,
    plot_times,
    plots,
)

DEVICE = {
    "name": "A & B <CPU>",
    "platform": "Some platform",
    "position": "0:0",
    "kind": "CPU",
    "version": "OpenCL 3.0",
    "driver": "3.1",
    "fp64": True,
    "vector_width": 16,
    "compute_units": 2,
    "reason": "",
    "works": True,
    "fault": "",
    "seconds": 0.7,
}
BROKEN = DEVICE | {"name": "Old", "position": "1:0", "works": False, "fault": "unknown target CPU 'generic' " * 20}


def words(picture):
    """Every text of a picture, in one string; parsing it also proves that it is well-formed XML."""
    return " ".join(t.text for t in ET.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}text") if t.text)


@pytest.mark.parametrize("module", [course, devices, plots], ids=lambda m: m.__name__)
def test_the_examples_in_the_docstrings(module):
    assert doctest.testmod(module).failed == 0


def test_the_map_shows_every_module_and_marks_one():
    shown = words(draw_course("05"))
    assert all(key in shown and name in shown for key, (name, _) in course.MODULES.items())
    assert shown.count("here") == 1
    with pytest.raises(ValueError, match="there is no module '16'"):
        draw_course("16")


def test_the_chosen_device_and_the_broken_one_are_told_apart():
    shown = words(draw_devices({"devices": [DEVICE, BROKEN], "chosen": "0:0", "reason": "the first", "advice": ""}))
    for word in ("A & B <CPU>", "you compute here", "does not work", "unknown target CPU", "2 cores", "16 floats"):
        assert word in shown


def test_no_device_says_what_to_do():
    shown = words(draw_devices({"devices": [], "chosen": None, "reason": "there is none", "advice": "Run `this`."}))
    assert "No OpenCL device" in shown and "Run this." in shown


@pytest.mark.parametrize("units, width, squares", [(2, 16, 32), (132, 1, 96), (4, 1, 4), (64, 8, 48), (1, 1, 1)])
def test_the_squares_of_a_device_fit_into_its_card(units, width, squares):
    assert len(devices.draw_cores(DEVICE | {"compute_units": units, "vector_width": width}, 0)) == squares


def test_a_launch_rounds_up_to_whole_groups():
    assert "12 work-items for 10 numbers" in words(draw_launch(10, 4))
    assert "no work-item too many" in words(draw_launch(8, 4))
    for n, local_size in ((0, 4), (100, 4)):
        with pytest.raises(ValueError):
            draw_launch(n, local_size)


def test_plots_are_svg_the_same_each_time_and_leave_gaps_for_what_a_logarithm_cannot_show():
    h = 10.0 ** -np.arange(1, 8)
    curves = {"float32": np.r_[h[:-1], 0.0], "float64": np.r_[np.nan, h[1:]]}
    for make in (plot_step_size, plot_times, lambda x, y: plot_lines(x, y, markers=False)):
        first, second = make(h, curves)._repr_svg_(), make(h, curves)._repr_svg_()
        assert first == second
        ET.fromstring(first)


def test_more_curves_than_styles_are_drawn():
    plot = plot_lines([1, 2], {str(i): [i, i] for i in range(14)})
    assert len(plot.axes.lines) == 14


def test_a_timeline_has_a_lane_for_each_name_and_a_bar_for_each_command():
    rows = [(f"kernel {number % 9}", number, number + 0.25, number + 0.75) for number in range(20)]
    axes = plot_timeline(rows).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"kernel {number}" for number in range(9)]
    waits, bars = axes.collections[0::2], axes.collections[1::2]
    assert sum(len(each.get_paths()) for each in bars) == sum(len(each.get_paths()) for each in waits) == 20
    assert [path.get_extents().intervalx.tolist() for path in bars[8].get_paths()] == [[8.25, 8.75], [17.25, 17.75]]
    assert plot_timeline(rows)._repr_svg_() == plot_timeline(rows)._repr_svg_() and plot_timeline([])._repr_svg_()


def test_a_loss_curve_shows_its_mean_and_leaves_gaps_for_what_is_no_loss():
    plot = plot_losses({"a": [4.0, 2.0, np.nan, 1.0], "b": [3.0]}, smooth=2)
    assert plot.axes.get_yscale() == "log"
    assert plot.axes.lines[1].get_ydata()[0] == 3.0 and plot._repr_svg_() == plot._repr_svg_()


def test_the_boundary_is_where_the_score_is_0():
    points = np.array([[-1.0, 0.0], [1.0, 0.5], [-0.5, 1.0], [0.7, -1.0]])
    asked = []

    def score(x):
        asked.append(x.shape)
        return x[:, 0]

    plot = plot_boundary(score, points, points[:, 0] > 0)
    (line,) = [each for each in plot.axes.collections if each.get_facecolor().size == 0]
    assert np.allclose(np.concatenate([path.vertices for path in line.get_paths()])[:, 0], 0, atol=1e-9)
    assert asked == [(3600, 2)]
    assert plot_boundary(lambda x: np.ones(len(x)), points, [0, 1, 0, 1])._repr_svg_(), "no boundary in sight"


def test_memory_marks_its_peak():
    plot = plot_memory({"plain": [0, 5, 9, 3], "checkpointed": [0, 2, 4, 1]})
    assert [line.get_xydata().tolist() for line in plot.axes.lines[1::2]] == [[[2, 9]], [[2, 4]]]


def test_a_roof_is_the_smaller_of_peak_and_bandwidth_and_says_how_near_a_kernel_comes():
    plot = plot_roofline({"sum": (0.25, 2e9), "product": (100.0, 5e11)}, peak=1e12, bandwidth=1e10)
    labels = [text.get_text() for text in plot.axes.get_legend().get_texts()]
    assert labels == ["sum: 80% of its roof", "product: 50% of its roof"]
    x, y = plot.axes.lines[0].get_data()
    assert np.allclose(y, np.minimum(1e12, 1e10 * x))


def test_no_kernel_is_above_the_roof_and_what_was_measured_too_low_is_raised():
    plot = plot_roofline({"blocked": (8.0, 9e10), "sum": (0.5, 1e10)}, peak=5e10, bandwidth=1e10)
    labels = [text.get_text() for text in plot.axes.get_legend().get_texts()]
    assert labels == ["blocked: 100% of its roof", "sum: 100% of its roof"]
    x, y = plot.axes.lines[0].get_data()
    assert np.allclose(y, np.minimum(9e10, 2e10 * x))


def test_the_legend_of_a_boundary_stands_beside_the_points():
    plot = plot_boundary(lambda x: x[:, 0] - 0.5, [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    plot._repr_svg_()  # lays the figure out
    assert plot.axes.get_legend().get_window_extent().x0 >= plot.axes.get_window_extent().x1
    assert plot.axes.get_xlabel() and plot.axes.get_ylabel()


def test_a_call_is_timed_three_times_at_least_and_within_its_budget():
    calls = []
    assert 0 <= plots.seconds_per_call(lambda: calls.append(1), budget=0) < 1
    assert len(calls) == 3


def test_over_whole_numbers_the_ticks_are_whole_numbers():
    for x, are_whole in (([1, 2, 3], True), (range(1, 4), True), (np.array([1.0, 2.0, 3.0]), False)):
        ticks = plot_lines(x, {"a": [1, 4, 9]}).axes.get_xticks()
        assert all(float(tick).is_integer() for tick in ticks) == are_whole
