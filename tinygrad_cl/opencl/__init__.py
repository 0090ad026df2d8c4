"""Everything that touches an OpenCL driver: finding a device that works, and getting one where there is none."""

from tinygrad_cl.opencl.devices import Device, NoDeviceError, default_device, find_devices, find_fault
from tinygrad_cl.opencl.doctor import report

__all__ = ["Device", "NoDeviceError", "default_device", "find_devices", "find_fault", "report"]
