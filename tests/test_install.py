"""Getting a device: the first source that works is kept, and nothing is left of the others."""

import subprocess

from tinygrad_cl.opencl.install import install


class MadeUpSource:
    """A source of drivers that records what is done with it."""

    def __init__(self, name, works, obstacle=""):
        self.name, self.works, self._obstacle = name, works, obstacle
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
        works = any(source.works and "driver" in source.packages for source in sources)
        devices = [{"works": works, "fault": "" if works else "error: unknown target CPU"}]
        return {"devices": devices, "chosen": "0:0" if works else None, "reason": "", "advice": ""}

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


def test_nothing_is_installed_where_a_device_works():
    said = []
    assert install(said.append, sources=[MadeUpSource("A", True)])["chosen"]
    assert said == []
