"""What whoever marks sees beside an answer in formgrader, and nobody else: model answer and rubric, and what an earlier version got."""

from nbconvert.preprocessors import Preprocessor
from nbformat.v4 import new_markdown_cell

from autograder.errors import CourseError
from autograder.grading.marks import earlier_in, said_earlier
from autograder.lesson.symbols import BEGIN_WRITTEN, END_WRITTEN
from autograder.lesson.text import Cell, read_lesson


class ShowRubric(Preprocessor):
    """Puts them under the cells of formgrader's page; no other page is made for a submission's id in the gradebook."""

    def preprocess(self, notebook, resources):
        if "submission_id" not in resources:
            return notebook, resources
        try:
            cells = {cell.id: cell for cell in read_lesson(resources["assignment_id"]).cells}
        except CourseError:  # an assignment of the instructor's own
            return notebook, resources
        earlier, shown = earlier_in(notebook), []
        for cell in notebook.cells:
            shown.append(cell)
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            notes = (
                [said_earlier(earlier[name], cell.metadata.nbgrader.get("points"))]
                if name in earlier and name in cells
                else []
            )
            if name in cells and cells[name].kind == "written":
                notes.append(f"**Model answer**\n\n{rubric_of(cells[name])}")
            shown += [new_markdown_cell("> " + note.replace("\n", "\n> ")) for note in notes]
        notebook.cells = shown
        return notebook, resources


def rubric_of(cell: Cell) -> str:
    """The part of a written answer that students do not get: the model answer, and how it is marked."""
    return cell.source.partition(BEGIN_WRITTEN)[2].partition(END_WRITTEN)[0].strip()
