from verdicts import NotOffered

from mxnet.ndarray import NDArray as NDArray
from tinygrad_cl.tensor.mxnet import autograd as ours
from tinygrad_cl.tensor.mxnet.autograd import backward as backward
from tinygrad_cl.tensor.mxnet.autograd import grad as grad
from tinygrad_cl.tensor.mxnet.autograd import is_recording as is_recording
from tinygrad_cl.tensor.mxnet.autograd import pause as pause
from tinygrad_cl.tensor.torch.autograd import Function as EngineFunction


def record(train_mode=None):
    if train_mode is not None:
        raise NotOffered("train_mode")
    return ours.record()


def mark_variables(variables, gradients, grad_reqs="write"):
    for x, gradient in zip(variables, gradients):
        x.attach_grad(grad_reqs)
        x.given = gradient


class Function:
    """One call: forward and backward are methods, and self keeps what is saved."""

    def __call__(self, *inputs):
        return rule(self).apply(*inputs)


def rule(call):
    """The engine's Function whose methods are those of the call."""

    class Rule(EngineFunction):
        @staticmethod
        def forward(ctx, *inputs):
            call.save_for_backward = ctx.save_for_backward
            result = call.forward(*inputs)
            if isinstance(result, tuple):
                raise NotOffered("several results of a Function")
            return result

        @staticmethod
        def backward(ctx, grad):
            call.saved_tensors = ctx.saved_tensors
            return call.backward(grad)

    return Rule


def absent(name):
    def function(*arguments, **options):
        raise NotOffered(name)

    return function


get_symbol, train_mode, predict_mode, is_training = map(
    absent, ("get_symbol", "train_mode", "predict_mode", "is_training")
)
