"""Everything that touches an OpenCL driver: find a device that works, or install one."""

from tinygrad_cl.opencl.devices import Device, NoDeviceError, default_device, find_devices, find_fault
from tinygrad_cl.opencl.doctor import report

__all__ = ["Device", "NoDeviceError", "default_device", "find_devices", "find_fault", "report"]
