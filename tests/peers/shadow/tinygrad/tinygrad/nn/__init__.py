"""Optimizers alone."""
