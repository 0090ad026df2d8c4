"""The filter of system calls, run step by step: also for a machine that this one is not."""

import errno
import struct

import pytest

from autograder.sandbox.seccomp import (
    ALLOW,
    CLONE,
    FCNTL,
    MACHINES,
    MMAP,
    NOTHING,
    REFUSE,
    REFUSED,
    SOCKET,
    filter_for,
    filter_here,
)


def answer(program: bytes, architecture: int, number: int, *arguments: int) -> int | None:
    """The number of the error that a call gets, 0 for a call that does nothing; None where it is allowed."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    steps = list(struct.iter_unpack("=HBBI", program))
    place = held = 0
    while True:
        code, yes, no, value = steps[place]
        place += 1
        if code == 0x20:
            held = int.from_bytes(data[value : value + 4], "little")
        elif code == 0x54:
            held &= value
        elif code == 0x06:
            return None if value == ALLOW else value & ~REFUSE
        else:
            place += yes if {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code] else no


@pytest.fixture(params=MACHINES)
def call(request):
    """call(numbers, …) is the answer to a system call with these numbers, one for each machine."""
    architecture, column = MACHINES[request.param]
    program = filter_for(request.param)
    return lambda numbers, *arguments: answer(program, architecture, numbers[column], *arguments)


@pytest.mark.parametrize("name", REFUSED)
def test_calls_that_reach_beyond_a_sandbox_do_not_exist(call, name):
    if -1 in REFUSED[name]:
        pytest.skip("one of the machines has no such call")
    assert call(REFUSED[name]) == errno.ENOSYS


def test_what_programs_live_on_is_allowed(call):
    for numbers in (
        (0, 63),
        (1, 64),
        (257, 56),
        (59, 221),
        (202, 98),
    ):  # read write openat execve futex
        assert call(numbers) is None


def test_locks_lock_nothing_and_cannot_be_asked_for(call):
    assert call(NOTHING["flock"], 3, 2) == 0
    assert {call(FCNTL, 3, command) for command in (6, 7, 37, 38)} == {0}
    assert {call(FCNTL, 3, command) for command in (5, 36, 1024, 1025, 1026)} == {errno.EINVAL}
    assert {call(FCNTL, 3, command) for command in (0, 1, 2, 3, 4, 1030)} == {None}


def test_files_keep_their_times_and_stay_in_memory_as_they_are(call):
    assert {call(numbers, 3) for numbers in NOTHING.values() if -1 not in numbers} == {0}


def test_sockets_know_namespaces(call):
    assert {call(SOCKET, family, 1) for family in (1, 2, 10, 16)} == {None}
    assert {call(SOCKET, family, 1) for family in (0, 17, 38, 40)} == {errno.EAFNOSUPPORT}


def test_memory_that_is_shared_has_a_file(call):
    assert call(MMAP, 0, 4096, 3, 0x21) == call(MMAP, 0, 4096, 3, 0x4021) == errno.ENOMEM
    assert call(MMAP, 0, 4096, 3, 0x22) is call(MMAP, 0, 4096, 3, 0x01, 5) is None


def test_processes_and_threads_have_no_namespaces_of_their_own(call):
    assert call(CLONE, 17) is call(CLONE, 0x3D0F00) is None
    assert call(CLONE, 0x10000011) == call(CLONE, 0x20000) == errno.ENOSYS


def test_other_conventions_of_calls_do_not_exist_and_other_machines_have_no_filter():
    program = filter_for("x86_64")
    assert answer(program, 0x40000003, 20) == errno.ENOSYS  # 32-bit
    assert answer(program, MACHINES["x86_64"][0], 0x40000000 + 1) == errno.ENOSYS  # x32
    assert filter_for("a machine") == b""
    assert filter_here() in (b"", *map(filter_for, MACHINES))
