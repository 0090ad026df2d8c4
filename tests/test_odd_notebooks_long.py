"""Every odd but honest notebook is judged, in a kernel of its own, and earns all points."""

import pytest
from odd_notebooks import MODULE, ODD, of_lesson
from test_odd_notebooks import points_of

from autograder import paths

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", ODD)
def test_not_one_loses_a_point(name):
    points_of(ODD[name](), MODULE)


@pytest.mark.parametrize("module", [module for module in paths.module_names() if module != MODULE])
def test_nor_do_the_other_lessons_without_our_metadata(module):
    points_of(of_lesson(module, "neither ids nor metadata"), module)
