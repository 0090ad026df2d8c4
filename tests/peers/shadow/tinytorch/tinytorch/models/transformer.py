"""Imported by a test for what it adds to Tensor, which engine 2 has."""
