from tinygrad_cl.tensor.tinytorch import Function as Function
from tinygrad_cl.tensor.tinytorch import enable_autograd as enable_autograd
