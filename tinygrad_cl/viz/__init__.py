"""Pictures: graphs, devices, the map of the course, and the plots that the lessons share."""

from tinygrad_cl.viz.graph import draw

__all__ = ["draw"]
