"""sin(a) · b whose gradients are central differences on the device: for the second opinion of three checks."""


def measured_sin_times(on, reference):
    """An op of two Nodes, made with the module `on` (tinygrad_cl.measured) and the names of the reference."""
    Tensor = reference["Tensor"]

    def formula(a, b):
        return on.ag.sin(a) * b

    def op(a, b):
        def grad_fn(grad):
            found = on.gradients(formula, grad.to_host(), a.to_host(), b.to_host())
            return [Tensor.from_host(grad.queue, each) for each in found]

        return reference["apply_op"](lambda x, y: formula(x, y).value, grad_fn, a, b)

    return op
