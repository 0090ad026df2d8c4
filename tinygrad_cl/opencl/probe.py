"""The program that the doctor runs in a separate process, since a driver may crash or hang.

python -m tinygrad_cl.opencl.probe         prints every device as JSON
python -m tinygrad_cl.opencl.probe 0:1     prints the fault of the device at this position as JSON; "" if it works
"""

import json
import sys
from typing import Any

from tinygrad_cl.opencl.devices import find_devices, find_fault


def main(positions: list[str]) -> Any:
    devices = find_devices()
    if not positions:
        return [device.facts() for device in devices]
    return next(find_fault(device) for device in devices if device.position == positions[0])


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
