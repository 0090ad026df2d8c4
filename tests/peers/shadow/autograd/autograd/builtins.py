"""Containers are Python's own: engine 2 differentiates what is in them."""

dict, isinstance, list, tuple, type = dict, isinstance, list, tuple, type
