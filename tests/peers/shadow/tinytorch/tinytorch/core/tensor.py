from tinygrad_cl.tensor.tinytorch import Tensor as Tensor
