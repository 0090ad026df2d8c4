"""tinygrad's optimizers: those of engine 2 or 3."""

from verdicts import NotOffered

from tinygrad.engines import ENGINE


class Optimizer:
    def __init__(self, params, **options):
        self.params = params
        self.inner = ENGINE.optimizer(type(self).__name__, [x.value for x in params], options)

    def zero_grad(self):
        for x in self.params:
            x.grad = None

    def step(self):
        for x in self.params:
            ENGINE.put(x.value, x.grad.value)
        self.inner.step()


class SGD(Optimizer):
    def __init__(self, params, lr=0.001, momentum=0.0, weight_decay=0.0, nesterov=False):
        super().__init__(params, lr=lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov)


class Adam(Optimizer):
    def __init__(self, params, lr=0.001, b1=0.9, b2=0.999, eps=1e-8):
        super().__init__(params, lr=lr, betas=(b1, b2), eps=eps)


class AdamW(Optimizer):
    def __init__(self, params, lr=0.001, b1=0.9, b2=0.999, eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr=lr, betas=(b1, b2), eps=eps, weight_decay=weight_decay)


class Muon:
    def __init__(self, *args, **kwargs):
        raise NotOffered(type(self).__name__)


class LAMB(Muon):
    """Not offered, either."""
