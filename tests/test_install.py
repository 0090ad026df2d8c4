"""Getting a device: the first source that works is kept, and nothing is left of the others."""

import subprocess

from tinygrad_cl.opencl.install import install


class MadeUpSource:
    """A source of drivers that records what is done with it. works: None if it cannot be installed."""

    def __init__(self, name, works, obstacle="", slow=False, last_resort=False):
        self.name, self.works, self._obstacle, self.slow, self.last_resort = name, works, obstacle, slow, last_resort
        self.packages = {"already there"}

    def obstacle(self):
        return self._obstacle

    def installed(self):
        return set(self.packages)

    def add(self):
        self.packages |= {"driver", "its library"}
        if self.works is None:
            raise subprocess.CalledProcessError(1, "pip", output="", stderr="Collecting driver\nERROR: no network")

    def remove(self, packages):
        self.packages -= set(packages)


def install_made_up(*sources):
    """Run the installer on made-up sources; what it said, and its report."""
    said = []

    def made_up_report():
        devices = [
            {"works": source.works, "fault": "" if source.works else "error: unknown target CPU"}
            | {"platform": "Made up", "name": source.name, "driver": "1", "slow": "It is slow." if source.slow else ""}
            for source in sources
            if "driver" in source.packages
        ]
        chosen = "0:0" if any(device["works"] for device in devices) else None
        return {"devices": devices, "chosen": chosen, "reason": "there is none", "advice": ""}

    return said, install(said.append, sources, made_up_report)


def test_the_first_source_that_works_is_kept_and_those_before_it_are_removed():
    impossible, broken, absent = (
        MadeUpSource("A", True, "needs root"),
        MadeUpSource("B", False),
        MadeUpSource("C", None),
    )
    good, later = MadeUpSource("D", True), MadeUpSource("E", True)
    said, found = install_made_up(impossible, broken, absent, good, later)
    assert found["chosen"] == "0:0"
    assert broken.packages == absent.packages == later.packages == impossible.packages == {"already there"}
    assert "driver" in good.packages
    assert "A: needs root." in said
    assert "B: does not work here (error: unknown target CPU), so it is removed again." in said
    assert "C: could not be installed: ERROR: no network" in said
    assert said[-1] == "D: works."


def test_when_no_source_works_nothing_is_left_behind():
    source = MadeUpSource("A", False)
    said, found = install_made_up(source)
    assert found["chosen"] is None
    assert source.packages == {"already there"}


def test_nothing_is_installed_where_a_good_device_works():
    there, other = MadeUpSource("A", True), MadeUpSource("B", True)
    there.packages.add("driver")
    said, found = install_made_up(there, other)
    assert found["chosen"] and said == [] and other.packages == {"already there"}


def test_a_slow_driver_is_replaced_by_the_next_that_is_good_and_leaves_nothing():
    slow, good = MadeUpSource("A", True, slow=True), MadeUpSource("B", True)
    said, found = install_made_up(slow, good)
    assert [device["name"] for device in found["devices"]] == ["B"] and slow.packages == {"already there"}
    assert "A: works. It is slow." in said and said[-1] == "B: works."


def test_where_only_slow_drivers_can_be_had_the_first_stays_and_the_last_resorts_are_not_tried():
    sources = [
        MadeUpSource("A", True, slow=True),
        MadeUpSource("B", False),
        MadeUpSource("C", True, slow=True),
        MadeUpSource("D", True, last_resort=True),
    ]
    said, found = install_made_up(*sources)
    assert [device["name"] for device in found["devices"]] == ["A"]
    assert all(source.packages == {"already there"} for source in sources[1:])
    assert not any("D" in line for line in said)


def test_a_slow_driver_that_was_there_stays_beside_the_good_one():
    there, good = MadeUpSource("A", True, slow=True), MadeUpSource("B", True)
    there.add()
    said, found = install_made_up(there, good)
    assert [device["name"] for device in found["devices"]] == ["A", "B"]
    assert said[0] == "A works. It is slow." and "A: nothing new." in said


def test_a_last_resort_is_taken_where_nothing_else_works():
    said, found = install_made_up(MadeUpSource("A", False), MadeUpSource("B", True, slow=True, last_resort=True))
    assert [device["name"] for device in found["devices"]] == ["B"] and found["chosen"]
