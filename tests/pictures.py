"""Make the pictures of README.md and of the site's first page again, as pages look in a browser: `make pictures`.

    python tests/pictures.py [check] [steps] [class]

Each is made in the light and in the dark, as docs/pictures/NAME-light.png and NAME-dark.png.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import lab_server, open_browser, open_notebook, write_notebook
from PIL import Image
from small_class import SANDBOX

from autograder import paths
from autograder.grading.sample_class import CASES, MODULE, exercise_cell, solved, with_mistake, write_submission

FOLDER = paths.ROOT / "docs" / "pictures"
THEMES = ("light", "dark")
COLOURS = 64  # of a picture: flat areas and text need no more, and the file is a fourth as large
STUDENTS = {
    "ada": "solved",
    "ben": "mistake-1",
    "chloe": "right-variant",
    "dan": "mistakes-in-three",
    "eva": "mistake-1",
}
STEPS = """
from tinygrad_cl.scalar import Value
from tinygrad_cl.viz import steps
a, b = Value(2.0, label="a"), Value(-3.0, label="b")
s = a + b; s.label = "s"
c = s * b; c.label = "c"
"""
HIDDEN = ("application:toggle-left-area", "application:toggle-side-tabbar")  # of JupyterLab


def check_picture(browser, folder):
    """An exercise with its first known mistake, and what its check says."""
    wrong = exercise_cell(with_mistake(0))
    before = []
    for cell in solved().cells:
        if cell.metadata.course.get("exercise") == wrong.metadata.course.exercise:
            break
        if cell.cell_type == "code" and cell.metadata.course.kind in ("given", "exercise"):
            before.append(cell.source)
    (folder / "before.py").write_text("\n\n".join(before), encoding="utf-8")
    sources = "%run -i before.py", wrong.source, f'check("{wrong.metadata.course.exercise}")'
    for theme, page in notebook_pages(browser, folder, *sources):
        page.wait_for_selector(".jp-Cell >> nth=2 >> .jp-OutputArea-output")
        yield theme, screenshot(page, ".jp-Cell >> nth=1", ".jp-Cell >> nth=2")


def steps_picture(browser, folder):
    """The step-through of a small graph, in the middle of backward."""
    for theme, page in notebook_pages(browser, folder, STEPS, "steps(c)"):
        page.wait_for_selector(".steps-say:not(:empty)")
        page.focus(".steps")
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        yield theme, screenshot(page, ".steps")


def class_picture(browser, folder):
    """The top of the page about a class of a few students."""
    for student, case in STUDENTS.items():
        write_submission(folder / "submissions", student, MODULE, CASES[case].make())
    grade = [sys.executable, "-m", "autograder", "grade", folder / "submissions", "--out", folder / "out"]
    subprocess.run(grade + ["--no-sandbox"] * (not SANDBOX), check=True, stdout=subprocess.DEVNULL)
    for theme in THEMES:
        page = browser.new_page(viewport={"width": 1000, "height": 740}, color_scheme=theme)
        page.goto((folder / "out" / "report.html").as_uri())
        yield theme, page.screenshot()
        page.close()


PICTURES = {"check": check_picture, "steps": steps_picture, "class": class_picture}


def notebook_pages(browser, folder, *sources):
    """(theme, page) with these cells in JupyterLab, run, in each theme, and little else."""
    with lab_server(folder) as address:
        for theme in THEMES:
            write_notebook(folder / f"{theme}.ipynb", *sources)
            page = open_notebook(browser, address, f"{theme}.ipynb", theme, width=1000, height=1600)
            for command in HIDDEN:
                page.evaluate(f"void window.jupyterapp.commands.execute('{command}', {{side: 'left'}})")
            yield theme, page
            page.close()


def screenshot(page, *selectors):
    """What lies around these elements, when nothing moves any more."""
    page.wait_for_timeout(2000)
    boxes = [page.locator(selector).first.bounding_box() for selector in selectors]
    left, top = (min(box[side] for box in boxes) for side in "xy")
    right, bottom = max(box["x"] + box["width"] for box in boxes), max(box["y"] + box["height"] for box in boxes)
    return page.screenshot(clip={"x": left, "y": top, "width": right - left, "height": bottom - top})


def main(names):
    FOLDER.mkdir(exist_ok=True)
    with open_browser() as browser:
        for name in names or PICTURES:
            with tempfile.TemporaryDirectory() as folder:
                for theme, image in PICTURES[name](browser, Path(folder)):
                    path = FOLDER / f"{name}-{theme}.png"
                    small = Image.open(io.BytesIO(image)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
                    small.save(path, optimize=True)
                    print(f"wrote {path.relative_to(paths.ROOT)}, {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
