"""TinyTorch's package, as far as its tests of automatic differentiation import it."""
