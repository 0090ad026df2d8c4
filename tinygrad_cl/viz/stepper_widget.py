"""The widget behind `steps`, by anywidget's convention: it loads nothing from the network."""

from pathlib import Path

import anywidget
import traitlets

FOLDER = Path(__file__).parent


class StepsWidget(anywidget.AnyWidget):
    """An ExecutionTrace in the page.

    trace      {"svg", "steps", "note"}
    inputs     [{"name", "value"}, …]; when the page changes one, the graph is computed again
    position   the step that is shown, from 0
    error      why the last change was refused, or ""
    """

    _esm = FOLDER / "stepper.js"
    _css = FOLDER / "stepper.css"
    trace = traitlets.Dict().tag(sync=True)
    inputs: traitlets.List = traitlets.List().tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)
    error = traitlets.Unicode().tag(sync=True)

    def __init__(self, trace):
        super().__init__()
        self.made = trace
        self.take(trace)
        self.observe(self.compute_again, "inputs")

    def take(self, trace):
        self.trace = {"svg": trace.svg(), "steps": trace.steps, "note": trace.note}
        self.shown = trace
        self.inputs = [{"name": name, "value": value} for name, value in trace.inputs]

    def compute_again(self, change):
        """Compute the trace for new inputs. The student's operators run; an error that they raise is shown in the page."""
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
        return {**data, "image/svg+xml": self.shown.static_picture().svg}, metadata
