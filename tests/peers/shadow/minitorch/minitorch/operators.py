"""Functions of plain numbers, which minitorch's students write; what the tests expect is computed with them."""

import math
from builtins import sum as sum
from math import exp as exp
from math import log as log
from operator import add as add
from operator import mul as mul
from operator import neg as neg


def id(x):
    return x


def lt(x, y):
    return float(x < y)


def eq(x, y):
    return float(x == y)


def is_close(x, y):
    return abs(x - y) < 1e-2


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def relu(x):
    return max(x, 0.0)


def inv(x):
    return 1 / x
