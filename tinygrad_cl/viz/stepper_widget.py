"""The widget behind `steps`, by anywidget's convention: it loads nothing from the network."""

import os
from pathlib import Path
from uuid import uuid4

import anywidget
import traitlets

FOLDER = Path(__file__).parent
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class StepsWidget(anywidget.AnyWidget):
    """An ExecutionTrace in the page.

    A saved notebook holds no widget, only its output, so the output holds the static picture as well. VS Code and
    nbconvert show that picture when there is no model. JupyterLab and Notebook 7 show an error instead
    (https://github.com/jupyterlab/jupyterlab/issues/1139), so there the output is the picture alone, in an element
    that stepper.js fills once the kernel has sent the model.

    trace      {"svg", "steps", "note", "html"}; html is the static picture, with the steps in words
    inputs     [{"name", "value"}, …]; when the page changes one, the graph is computed again
    position   the step that is shown, from 0
    error      why the last change was refused, or ""
    element    the name of the HTML element, this widget's own
    """

    _esm = FOLDER / "stepper.js"
    _css = FOLDER / "stepper.css"
    trace = traitlets.Dict().tag(sync=True)
    inputs: traitlets.List = traitlets.List().tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)
    error = traitlets.Unicode().tag(sync=True)
    element = traitlets.Unicode().tag(sync=True)

    def __init__(self, trace):
        super().__init__(element=f"steps-{uuid4().hex}")
        self.made = trace
        self.take(trace)
        self.observe(self.compute_again, "inputs")

    def take(self, trace):
        self.trace = {"svg": trace.svg(), "steps": trace.steps, "note": trace.note, "html": trace.html()}
        self.shown = trace
        self.inputs = [{"name": name, "value": value} for name, value in trace.inputs]

    def compute_again(self, change):
        """Compute the trace for new inputs. The student's operators run; an error that they raise is shown in the page."""
        values = [each["value"] for each in change["new"]]
        if values != [value for _, value in self.shown.inputs]:
            try:
                self.take(self.made.compute(values))
            except Exception as error:
                self.error = f"{type(error).__name__}: {error}"
                return
        self.error = ""

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        in_element = f"<{self.element}>{self.trace['html']}</{self.element}>"
        data = {**data, "image/svg+xml": self.trace["svg"], "text/html": in_element}
        if "JPY_SESSION_NAME" in os.environ:  # the kernel was started by a Jupyter server
            del data[WIDGET_VIEW]
        return data, metadata
