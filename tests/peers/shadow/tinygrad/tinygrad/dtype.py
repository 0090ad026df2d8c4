"""tinygrad's dtypes: NumPy's under other names."""

import numpy as np


class DType:
    def __init__(self, name):
        self.name, self.np = name, np.dtype(name)
        limits = np.iinfo(self.np) if self.np.kind in "iu" else None
        self.min, self.max = (int(limits.min), int(limits.max)) if limits else (None, None)

    def __repr__(self):
        return f"dtypes.{self.name}"


class dtypes:
    bool, int8, int16, int32, int64 = map(DType, ("bool", "int8", "int16", "int32", "int64"))
    uint8, uint16, uint32, uint64 = map(DType, ("uint8", "uint16", "uint32", "uint64"))
    float16, float32, float64 = map(DType, ("float16", "float32", "float64"))
    half, float, double, int, uint, long, char, short = (float16, float32, float64, int32, uint32, int64, int8, int16)
    default_float, default_int = float32, int32

    @classmethod
    def of(cls, array):
        return next(each for each in vars(cls).values() if isinstance(each, DType) and each.np == array.dtype)


def numpy_dtype(dtype):
    """AttributeError for what is no dtype, as in tinygrad."""
    return (getattr(dtypes, dtype) if isinstance(dtype, str) else dtype).np
