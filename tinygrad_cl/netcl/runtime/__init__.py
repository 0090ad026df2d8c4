"""Replay recorded commands (`capture`) and measure them (`profile`)."""

from tinygrad_cl.netcl.runtime.capture import Captured, capture
from tinygrad_cl.netcl.runtime.profile import Profile, ProfileRecord, profile

__all__ = ["Captured", "Profile", "ProfileRecord", "capture", "profile"]
