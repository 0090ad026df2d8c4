"""The program that the doctor runs in a separate process, since a driver may crash or hang.

python -m tinygrad_cl.opencl.probe             prints every device as JSON
python -m tinygrad_cl.opencl.probe 0:1         prints the fault of the device at this position as JSON; "" if it works
python -m tinygrad_cl.opencl.probe 0:1 speed   prints what the device reaches, a `Speed`, as JSON
"""

import json
import sys
from dataclasses import asdict
from typing import Any

from tinygrad_cl.opencl.devices import find_devices, find_fault
from tinygrad_cl.opencl.speed import measure


def main(position: str = "", what: str = "fault") -> Any:
    devices = find_devices()
    if not position:
        return [device.facts() for device in devices]
    device = next(device for device in devices if device.position == position)
    return find_fault(device) if what == "fault" else asdict(measure(device))


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
