"""micrograd's names on top of engine 1."""
