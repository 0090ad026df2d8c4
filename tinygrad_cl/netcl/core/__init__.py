"""What lies on a device: the device itself, its memory, tensors and parameters."""
