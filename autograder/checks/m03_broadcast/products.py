"""Second factors for a @ b."""

from autograder.checks.cases import Text, filled


def second(a, rng):
    """Matrices that a matrix can be multiplied by, from the right; itself among them where it is square."""
    k = a.shape[-1]
    found = [filled((k, m), "decimals", rng) for m in (2, 3, 1)] + [filled((k, 2), "whole", rng)]
    return [*found, filled((k, 3), "transposed", rng), *([Text("a")] if a.ndim == 2 and a.shape[0] == k else [])]


def any_second(a, rng):
    """The same with vectors and stacks, whose added axes broadcast against those of a."""
    k, stack = a.shape[-1], a.shape[:-2]
    shapes = [
        (k,),
        (k, 2),
        *([(*stack, k, 3), stack[1:] + (k, 2), (*[1] * len(stack), k, 2)] if stack else []),
        (2, k, 1),
    ]
    shapes += [(2, 1, k, 3), (4, *[1] * len(stack), k, 2)]
    return [filled(shape, "decimals", rng) for shape in dict.fromkeys(shapes) if fits(stack, shape[:-2])]


def fits(one, two):
    return all(m == n or 1 in (m, n) for m, n in zip(one[::-1], two[::-1]))
