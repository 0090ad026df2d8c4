"""The reference package of the course: three engines for automatic differentiation, written to be read."""
