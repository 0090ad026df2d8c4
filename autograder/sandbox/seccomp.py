"""The system calls that a sandbox refuses, as a seccomp filter for bubblewrap.

Namespaces hide files, processes and networks. They do not hide what the system has once for all: key rings, locks on the
files that every sandbox reads, notices of their use. Through these one submission could tell another what it has seen. And
there is memory that no count of processes finds: in files without a name, or mapped and not touched.
"""

import errno
import platform
import struct
from dataclasses import dataclass

ALLOW, REFUSE = 0x7FFF0000, 0x00050000  # what the filter returns; with REFUSE comes the number of an error
LOAD, EQUAL, AT_LEAST, AND, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x54, 0x45, 0x06  # instructions of a filter
X32 = 0x40000000  # bit of the system calls of another convention, on x86-64
SECOND = 16 + 8  # where a call's second argument stands; the first is 8 bytes before, the fourth 16 bytes behind

# {machine: (its number in AUDIT_ARCH, the column of its calls)}
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
NONE = -1  # a call that a machine does not have

REFUSED = {
    # key rings outlive the sandbox, and the grader's own may be reached from inside
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # who reads a file that several sandboxes see is told to all who ask
    "inotify_init": (253, NONE),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    # whether another one has read it can be seen by what is in memory
    "cachestat": (451, 451),
    "mincore": (27, 232),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    # memory that belongs to no process, and no file that can be counted
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    # who is root in a namespace of their own may mount memory without limit
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "clone3": (435, 435),  # its flags are out of a filter's sight; libraries use clone instead
    # what no notebook needs, and what has had most faults
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
}
NOTHING = {  # calls that do nothing, and say that they did
    # a lock on a file
    "flock": (73, 32),
    # what of a file is kept in memory
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    # times of the machine's own devices
    "utime": (132, NONE),
    "utimes": (235, NONE),
    "futimesat": (261, NONE),
    "utimensat": (280, 88),
}
FAMILIES = 1, 2, 10, 16  # of sockets: AF_UNIX, AF_INET, AF_INET6, AF_NETLINK; others know no namespaces, AF_VSOCK say
NEW_NAMESPACES = 0x7E020000  # all CLONE_NEW… flags of clone
CLONE, MMAP, FCNTL, SOCKET = (56, 220), (9, 222), (72, 25), (41, 198)
SHARED_MEMORY = 0x2F, 0x21  # MAP_TYPE and MAP_ANONYMOUS; MAP_SHARED and MAP_ANONYMOUS
LOCKS = 6, 7, 37, 38  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
QUESTIONS = 5, 36, 1024, 1025, 1026  # F_GETLK, F_OFD_GETLK, F_SETLEASE, F_GETLEASE, F_NOTIFY


@dataclass(frozen=True)
class Step:
    """One instruction: `yes` and `no` are how many of the next ones are skipped, where it compares."""

    code: int
    value: int
    yes: int = 0
    no: int = 0

    def packed(self) -> bytes:
        return struct.pack("=HBBI", self.code, self.yes, self.no, self.value)


def refuse(error: int) -> Step:
    return Step(RETURN, REFUSE | error)


def for_call(number: int, steps: list[Step]) -> list[Step]:
    """Steps for one system call, which end in its being allowed or refused."""
    return [Step(EQUAL, number, 0, len(steps)), *steps] if number != NONE else []


def filter_for(machine: str) -> bytes:
    """The filter for a kind of machine, as bubblewrap's --seccomp reads it; b"" for one that is not known.

    A call that is refused fails with ENOSYS, as on an older system, so that libraries do without it. A lock on a file
    is given to everybody who asks, and locks nothing: nothing is shared that would need one. Files get no other times.
    """
    if machine not in MACHINES:
        return b""
    architecture, column = MACHINES[machine]
    absent, allow = refuse(errno.ENOSYS), Step(RETURN, ALLOW)
    steps = [Step(LOAD, 4), Step(EQUAL, architecture, 1, 0), absent, Step(LOAD, 0), Step(AT_LEAST, X32, 0, 1), absent]
    for numbers in REFUSED.values():
        steps += for_call(numbers[column], [absent])
    for numbers in NOTHING.values():
        steps += for_call(numbers[column], [refuse(0)])
    families = [step for family in FAMILIES for step in (Step(EQUAL, family, 0, 1), allow)]
    steps += for_call(SOCKET[column], [Step(LOAD, SECOND - 8), *families, refuse(errno.EAFNOSUPPORT)])
    steps += for_call(CLONE[column], [Step(LOAD, SECOND - 8), Step(ANY_BIT, NEW_NAMESPACES, 0, 1), absent, allow])
    mask, shared = SHARED_MEMORY
    flags = [Step(LOAD, SECOND + 16), Step(AND, mask), Step(EQUAL, shared, 0, 1), refuse(errno.ENOMEM), allow]
    steps += for_call(MMAP[column], flags)
    asked = [(command, 0) for command in LOCKS] + [(command, errno.EINVAL) for command in QUESTIONS]
    commands = [step for command, error in asked for step in (Step(EQUAL, command, 0, 1), refuse(error))]
    steps += for_call(FCNTL[column], [Step(LOAD, SECOND), *commands, allow])
    return b"".join(step.packed() for step in [*steps, allow])


def filter_here() -> bytes:
    return filter_for(platform.machine())
