"""Pictures: graphs, devices, the map of the course, and the plots that the lessons share."""

from tinygrad_cl.viz.course import draw_course
from tinygrad_cl.viz.devices import draw_devices, draw_launch
from tinygrad_cl.viz.graph import draw
from tinygrad_cl.viz.highlight import highlight_kernels
from tinygrad_cl.viz.plots import (
    Plot,
    plot_boundary,
    plot_lines,
    plot_losses,
    plot_memory,
    plot_roofline,
    plot_step_size,
    plot_timeline,
    plot_times,
    seconds_per_call,
)
from tinygrad_cl.viz.stepper import steps
from tinygrad_cl.viz.svg import Picture

__all__ = [
    "Picture",
    "Plot",
    "draw",
    "draw_course",
    "draw_devices",
    "draw_launch",
    "highlight_kernels",
    "plot_boundary",
    "plot_lines",
    "plot_losses",
    "plot_memory",
    "plot_roofline",
    "plot_step_size",
    "plot_timeline",
    "plot_times",
    "seconds_per_call",
    "steps",
]
