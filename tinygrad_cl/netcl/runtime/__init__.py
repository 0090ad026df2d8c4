"""Running what was recorded, and seeing what ran: `capture` and `profile`."""

from tinygrad_cl.netcl.runtime.capture import Captured, capture
from tinygrad_cl.netcl.runtime.profile import Profile, ProfileRecord, profile

__all__ = ["Captured", "Profile", "ProfileRecord", "capture", "profile"]
