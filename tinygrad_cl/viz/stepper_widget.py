"""The widget behind `steps`, by anywidget's convention: nothing is fetched from anywhere else."""

from pathlib import Path

import anywidget
import traitlets

FOLDER = Path(__file__).parent


class StepsWidget(anywidget.AnyWidget):
    """A Film in the page.

    film       {"svg", "steps", "note"}
    inputs     [{"name", "value"}, …]; set by the page when somebody changes one, and then the graph is computed again
    position   the step that is shown, from 0
    error      why the last change was not taken, or ""
    """

    _esm = FOLDER / "stepper.js"
    _css = FOLDER / "stepper.css"
    film = traitlets.Dict().tag(sync=True)
    inputs: traitlets.List = traitlets.List().tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)
    error = traitlets.Unicode().tag(sync=True)

    def __init__(self, film):
        super().__init__()
        self.made = film
        self.take(film)
        self.observe(self.compute_again, "inputs")

    def take(self, film):
        self.film = {"svg": film.svg(), "steps": film.steps, "note": film.note}
        self.shown = film
        self.inputs = [{"name": name, "value": value} for name, value in film.inputs]

    def compute_again(self, change):
        """The film for other inputs; the student's operators run, and whatever they raise is a sentence in the page."""
        values = [each["value"] for each in change["new"]]
        if values == [value for _, value in self.shown.inputs]:
            return
        try:
            self.take(self.made.compute(values))
            self.error = ""
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**data, "image/svg+xml": self.shown.strip().svg}, metadata
