"""How the checks of lesson 02 are measured on the device."""


def on_traced_values(on, reference):
    """The reference's own functions and classes, on a Value whose gradients are central differences."""
    from tinygrad_cl.traced import TracedValue

    reference["Value"] = TracedValue  # where they look it up when they run
    return {"Value": TracedValue}
