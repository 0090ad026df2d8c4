"""Odd but honest notebooks: solved lessons as programs, people and platforms change them. Not one may lose a point.

`ODD` has each by a name that says what is odd, as a function that makes the file's bytes.
"""

import base64
import copy
import json
import struct
import zlib
from collections.abc import Callable

import nbformat

from autograder import paths
from autograder.grading.sample_class import MODULE, solved

ODD: dict[str, Callable[[], bytes]] = {}
LIVE: set[str] = set()  # those whose oddity is what a cell puts out: only a kernel shows it


def png() -> str:
    """A picture of one red pixel, as JupyterLab attaches it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    data = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
        + chunk(b"IEND", b"")
    )
    return base64.b64encode(data).decode()


def plain(module: str = MODULE) -> dict:
    """The solved lesson as plain JSON, with an answer in place of the model's."""
    notebook = json.loads(json.dumps(solved(module)))
    for cell in notebook["cells"]:
        if kind(cell) == "written":
            cell["source"] = ANSWER
    return notebook


ANSWER = "Along a path the local derivatives are multiplied, over all paths they are added."


def kind(cell: dict) -> str:
    return cell.get("metadata", {}).get("course", {}).get("kind", "")


def written(notebook: dict) -> dict:
    return next(cell for cell in notebook["cells"] if kind(cell) == "written")


def exercises(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if kind(cell) == "exercise"]


def code(source: str, **more) -> dict:
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None} | more


def text(source: str, **more) -> dict:
    return {"cell_type": "markdown", "source": source, "metadata": {}} | more


def encoded(notebook: dict) -> bytes:
    return json.dumps(notebook).encode()


def odd(name: str, change: Callable[[dict], object] | None = None, encode: Callable[[dict], bytes] = encoded) -> None:
    """One more: `change` edits the solved notebook, `encode` writes it."""

    def make() -> bytes:
        notebook = plain()
        if change:
            change(notebook)
        return encode(notebook)

    assert name not in ODD
    ODD[name] = make


def with_text(name: str, source: str, **more) -> None:
    """A text cell more, after the first."""
    odd(name, lambda notebook: notebook["cells"].insert(1, text(source, **more)))


def with_code(name: str, source: str, live: bool = False, **more) -> None:
    """A code cell more, before the first exercise."""

    def change(notebook):
        notebook["cells"].insert(notebook["cells"].index(exercises(notebook)[0]), code(source, **more))

    odd(name, change)
    if live:
        LIVE.add(name)


def each(change: Callable[[dict], object]) -> Callable[[dict], None]:
    """A change of every cell."""

    def of(notebook):
        for cell in notebook["cells"]:
            change(cell)

    return of


# -- how the file is written ------------------------------------------------------------------------------------------


def lines(cell, cut=lambda source: source.splitlines(keepends=True)):
    cell["source"] = cut(cell["source"])


def ends(end):
    return lambda cell: cell.update(source=cell["source"].replace("\n", end))


odd("a byte-order mark", encode=lambda notebook: b"\xef\xbb\xbf" + encoded(notebook))
for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
    odd(
        f"written in {encoding}",
        encode=lambda notebook, to=encoding: json.dumps(notebook, ensure_ascii=False).encode(to),
    )
odd(
    "written in latin-1",
    lambda notebook: notebook["cells"].insert(1, text("Grüße")),
    lambda notebook: json.dumps(notebook).replace("\\u00fc", "ü").encode("latin-1"),
)
odd("no escapes", encode=lambda notebook: json.dumps(notebook, ensure_ascii=False).encode())
odd("one long line", encode=lambda notebook: json.dumps(notebook, separators=(",", ":")).encode())
odd("indented by tabs", encode=lambda notebook: json.dumps(notebook, indent="\t").encode())
odd(
    "CRLF between lines of the file",
    encode=lambda notebook: json.dumps(notebook, indent=1).replace("\n", "\r\n").encode(),
)
odd("blank lines around", encode=lambda notebook: b"\n\r\n  " + encoded(notebook) + b"\n\n\n")
odd(
    "keys in another order",
    encode=lambda notebook: json.dumps(dict(reversed(notebook.items())), sort_keys=True).encode(),
)
odd("CRLF in every cell", each(ends("\r\n")))
odd("CR in every cell", each(ends("\r")))
odd("lists of lines", each(lines))
odd("lists of characters", each(lambda cell: lines(cell, list)))
odd("lists of lines with CRLF", lambda notebook: (each(ends("\r\n"))(notebook), each(lines)(notebook)))
odd("trailing spaces in every cell", each(lambda cell: cell.update(source=cell["source"] + "\n\n   \n")))
odd(
    "a number that is none in the metadata",
    lambda notebook: notebook["metadata"].update(x=float("nan"), y=float("inf")),
)
odd("metadata of 200 kB", lambda notebook: notebook["metadata"].update(x={str(i): "x" * 100 for i in range(2000)}))

# -- formats ----------------------------------------------------------------------------------------------------------


def version(major, minor):
    return lambda notebook: notebook.update(nbformat=major, nbformat_minor=minor)


def without(cell, *names):
    for name in names:
        cell.pop(name, None)


def as_format_3(notebook) -> dict:
    old = nbformat.convert(nbformat.from_dict(notebook), 3)
    return json.loads(json.dumps(old))


def two_worksheets(notebook) -> bytes:
    old = as_format_3(notebook)
    cells = old["worksheets"][0]["cells"]
    old["worksheets"] = [{"metadata": {}, "cells": cells[:9]}, {"metadata": {}, "cells": cells[9:]}]
    return encoded(old)


def with_headings(old) -> dict:
    heading = {"cell_type": "heading", "level": 2, "source": ["One heading"], "metadata": {}}
    old["worksheets"][0]["cells"][:0] = [heading, heading | {"level": None}]
    return old


for minor in range(5):
    odd(
        f"format 4.{minor}, without ids",
        lambda notebook, minor=minor: (version(4, minor)(notebook), each(lambda cell: without(cell, "id"))(notebook)),
    )
for minor in (6, 99):
    odd(f"format 4.{minor}", version(4, minor))
odd("format 3", encode=lambda notebook: encoded(as_format_3(notebook)))
odd("format 3 in two worksheets", encode=two_worksheets)
odd("format 3 with headings", encode=lambda notebook: encoded(with_headings(as_format_3(notebook))))
odd("no number of the format", lambda notebook: without(notebook, "nbformat", "nbformat_minor"))
odd("the format's number as a text", version("4", "5"))
odd("no metadata", lambda notebook: without(notebook, "metadata"))
odd(
    "another kernel's name",
    lambda notebook: notebook["metadata"].update(
        kernelspec={"name": "conda-env-ml-py", "display_name": "ml", "language": "python"}
    ),
)

# -- programs ---------------------------------------------------------------------------------------------------------


def no_ids(cell):
    without(cell, "id")
    cell["metadata"] = {}


def colab(notebook, keeps: bool):
    notebook["metadata"] |= {
        "colab": {"provenance": [], "toc_visible": True, "include_colab_link": True},
        "accelerator": "GPU",
    }
    notebook["nbformat_minor"] = 0
    notebook["cells"].insert(
        0,
        text(
            '<a href="https://colab.research.google.com/x"><img src="https://colab.research.google.com/assets/colab-badge.svg"/></a>',
            metadata={"id": "view-in-github", "colab_type": "text"},
        ),
    )
    for i, cell in enumerate(notebook["cells"]):
        if not keeps:
            no_ids(cell)
        without(cell, "id")
        cell["metadata"] |= {
            "id": f"cE{i:010}",
            "executionInfo": {"status": "ok", "user": {"displayName": "é", "userId": "0"}},
            "outputId": "x",
        }


def vs_code(notebook, keeps: bool):
    notebook["metadata"]["language_info"] |= {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "version": "3.12.1",
        "file_extension": ".py",
    }
    notebook["metadata"]["vscode"] = {"interpreter": {"hash": "31f2"}}
    for cell in notebook["cells"]:
        without(cell, "id")
        if not keeps:
            no_ids(cell)
        cell["metadata"]["vscode"] = {"languageId": "python"}
        lines(cell)


def jupyterlab(notebook, keeps: bool):
    for i, cell in enumerate(notebook["cells"]):
        if not keeps:
            no_ids(cell)
            cell["id"] = f"{i:08x}-0000-4000-8000-000000000000"
        cell["metadata"] |= {
            "tags": ["a b", "remove-cell"],
            "jupyter": {"source_hidden": True},
            "collapsed": True,
            "slideshow": {"slide_type": "skip"},
            "execution": {"iopub.execute_input": "2026-11-22T04:17:07.000Z"},
            "trusted": True,
            "editable": True,
        }


def kaggle(notebook, keeps: bool):
    notebook["metadata"]["kaggle"] = {"accelerator": "none", "dataSources": []}
    for i, cell in enumerate(notebook["cells"]):
        without(cell, "id")
        if not keeps:
            no_ids(cell)
        cell["metadata"] |= {"_uuid": f"{i:040x}", "_cell_guid": "x", "execution": {"shell.execute_reply": "…"}}


def classic(notebook, keeps: bool):
    for cell in notebook["cells"]:
        without(cell, "id")
        if not keeps:
            no_ids(cell)
        cell["metadata"] |= {
            "scrolled": True,
            "ExecuteTime": {"end_time": "x"},
            "hide_input": False,
            "heading_collapsed": True,
        }


def deepnote(notebook, keeps: bool):
    notebook["metadata"]["deepnote_notebook_id"] = "x"
    for i, cell in enumerate(notebook["cells"]):
        if not keeps:
            no_ids(cell)
        cell["metadata"] |= {"cell_id": f"{i:032x}", "deepnote_cell_type": cell["cell_type"], "source_hash": None}
        cell["block_group"] = "x"


PROGRAMS = {
    "Colab": colab,
    "VS Code": vs_code,
    "JupyterLab": jupyterlab,
    "Kaggle": kaggle,
    "classic Notebook": classic,
    "Deepnote": deepnote,
}
for name, change in PROGRAMS.items():
    odd(f"{name}, which keeps nbgrader's metadata", lambda notebook, change=change: change(notebook, True))
    odd(f"{name}, and no metadata of ours left", lambda notebook, change=change: change(notebook, False))
odd("neither ids nor metadata", each(no_ids))
odd(
    "ids of another program",
    lambda notebook: [no_ids(cell) or cell.update(id=f"a{i}") for i, cell in enumerate(notebook["cells"])],
)
odd("metadata that is null", each(lambda cell: cell.update(metadata=None)))
odd("ids that are numbers", lambda notebook: [cell.update(id=i) for i, cell in enumerate(notebook["cells"])])
odd(
    "cleared by nbstripout",
    each(lambda cell: cell.update(outputs=[], execution_count=None) if cell["cell_type"] == "code" else None),
)

# -- pictures ---------------------------------------------------------------------------------------------------------

PICTURES = {
    "image/png": png(),
    "image/jpeg": "/9j/4AAQ",
    "image/gif": "R0lGODlhAQABAAAAACw=",
    "image/webp": "UklGRg==",
    "image/svg+xml": "PHN2Zy8+",
}
for mime, data in PICTURES.items():
    with_text(f"{mime} in a text cell", "![image](attachment:a.picture)", attachments={"a.picture": {mime: data}})
for name in (
    "image.png",
    "a name with spaces.png",
    "Größe.png",
    "50%.png",
    "a(1).png",
    "\ud83d.png",
    "half \U0001f600.png",
):
    with_text(
        f"a picture called {name!a}",
        f"![x](<attachment:{name}>) ![y](attachment:{name})",
        attachments={name: {"image/png": png()}},
    )
with_text(
    "a picture as a list of lines",
    "![x](attachment:a.png)",
    attachments={"a.png": {"image/png": [png()[:20] + "\n", png()[20:]]}},
)
with_text("a picture that is not there", "![x](attachment:gone.png)")
with_text(
    "a picture that is not there, and others are",
    "![x](attachment:gone.png)",
    attachments={"a.png": {"image/png": png()}},
)
with_text("a picture that nobody shows", "nothing", attachments={"a.png": {"image/png": png()}})
with_text("a picture that is none", "![x](attachment:a.png)", attachments={"a.png": {"image/png": "<no base64>"}})
with_text("attachments that are none", "![x](attachment:a.png)", attachments=[1, 2])
with_text("attachments that are null", "text", attachments=None)
with_text("a picture as HTML", '<img src="attachment:a.png" width="300">', attachments={"a.png": {"image/png": png()}})
with_text("a picture of 6 MB", "![x](attachment:a.png)", attachments={"a.png": {"image/png": "A" * 6_000_000}})
with_text(
    "a picture in the text itself", f"![x](data:image/png;base64,{png()}) and <img src='data:image/png;base64,{png()}'>"
)
with_text("a picture in the text itself, of 1 MB", f"![x](data:image/png;base64,{'A' * 1_000_000})")
with_text("a link to a picture", "![x](https://example.org/x.png) [![y](attachment:z.png)](https://example.org)")
with_text("a picture beside the notebook", "![x](images/x.png) <img src='../x.png'>")
odd(
    "a picture in the written answer",
    lambda notebook: written(notebook).update(
        source=f"{ANSWER} ![i](attachment:i.png)", attachments={"i.png": {"image/png": png()}}
    ),
)
with_code("attachments of a code cell", "1", attachments={"a.png": {"image/png": png()}})

# -- characters -------------------------------------------------------------------------------------------------------

CHARACTERS = {
    "half an emoji": "nice \ud83d",
    "the other half": "\ude00 nice",
    "halves the wrong way round": "\ude00\ud83d",
    "an emoji in two halves": "\ud83d\ude00",
    "an emoji": "\U0001f600",
    "a family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "from right to left": "שלום עולם",
    "writing turned round": "\u202eabc\u2066def",
    "a control character": "a\x07b\x1b[31mred\x0c",
    "no character": "\ufffe\uffff\U0010ffff",
    "for private use": "\ue000" + "0\ue001\uf8ff\ue0010\ue000",
    "many accents": "Z" + "\u0301\u0327" * 60,
    "letters of formulas": "𝑥² ∑ ∂ ₂ ⟨⟩",
    "a byte-order mark inside": "a\ufeffb",
    "line separators": "a\u2028b\u2029c\x85d",
    "spaces of all kinds": "a\u00a0b\u2003c\u200bd\u3000e",
    "tags": "\U000e0041\U000e007f",
    "NULs": "a\0b",
}
for name, characters in CHARACTERS.items():
    with_text(f"{name} in a text cell", f"Text: {characters}")
    odd(
        f"{name} in the written answer", lambda notebook, c=characters: written(notebook).update(source=f"{ANSWER} {c}")
    )
    with_code(f"{name} in a text of an added cell", f"said = '''{characters}'''")
    if "\0" not in characters:  # Python runs no cell that holds one
        odd(
            f"{name} in a comment of an exercise",
            lambda notebook, c=characters: [
                cell.update(source=f"{cell['source']}\n# {c.replace(chr(12), '')}") for cell in exercises(notebook)
            ],
        )
odd("an emoji in two lines of a list", lambda notebook: notebook["cells"].insert(1, text(["\ud83d", "\ude00"])))

# -- texts ------------------------------------------------------------------------------------------------------------

TEXTS = {
    "deep CSS": "<div style='color:" + "(" * 5000 + "'>",
    "HTML that is not closed": "<div><table><tr><td><b>" * 40,
    "HTML closed twice": "</div></body></html>" * 9,
    "a script": "<script>alert(1)</script><style>* {display: none}</style>",
    "a form": "<form action='https://x'><input><button>go</button></form>",
    "an embedded film": '<iframe width="560" src="https://www.youtube.com/embed/x"></iframe><video controls></video>',
    "an SVG": "<svg viewBox='0 0 1 1'><circle r='1'/></svg>",
    "lists in lists": "\n".join("  " * i + "- x" for i in range(60)),
    "quotes in quotes": ">" * 200 + " x",
    "brackets": "[a](" * 300 + "![" * 300,
    "asterisks and underscores": "*a _b **c __d " * 200,
    "a table": "a|b\n-|-\n" + "1|2\n" * 200,
    "formulas": r"$a_1$ $$\frac{\partial c}{\partial b}$$ \\(x\\) $\text{<b>}$",
    "formulas that end nowhere": r"$\frac $$ \begin{align} a &= b \\ $",
    "an environment": r"\begin{align*} a &= b \\ c &= d \end{align*}",
    "a price": "It costs $5, not $6.",
    "a formula of 9000 characters": "$$" + "x+" * 4500 + "$$",
    "a fence without an end": "```python\nx = 1",
    "a language that nobody knows": "```brainf***\n+++\n```\n~~~mermaid\na-->b\n~~~",
    "a line of 100,000 characters": "x" * 100_000,
    "30,000 words": "word " * 30_000,
    "comments": "<!-- <!-- -->" * 50,
    "links": "[a](javascript:alert(1)) <https://a.b> [b][b]\n\n[b]: data:text/html,x",
    "footnotes": "a[^1]\n\n[^1]: b",
    "entities": "&lt;&#0;&#xD800;&#1114112;&nope; &#xE000;0&#xE001;",
    "headings": "#a\n## b ##\n====\n####### c",
    "nothing": "",
    "spaces": "  \n\t\n",
    "a task list": "- [ ] a\n- [x] b",
    "an alert of Jupyter": '<div class="alert alert-info" id="x">Note</div>',
    "colours": '<font color="red">x</font><span style="color:red">y</span>',
}
for name, source in TEXTS.items():
    with_text(f"{name} in a text cell", source)
for name in ("deep CSS", "formulas", "brackets", "nothing", "a table", "a price"):
    odd(f"{name} in the written answer", lambda notebook, source=TEXTS[name]: written(notebook).update(source=source))

# -- cells ------------------------------------------------------------------------------------------------------------


def only(*kinds):
    return lambda notebook: notebook.update(cells=[cell for cell in notebook["cells"] if kind(cell) not in kinds])


def everywhere(cell):
    return lambda notebook: notebook.update(
        cells=[made for each in notebook["cells"] for made in (copy.deepcopy(cell), each)]
    )


def split(notebook, keeps: bool):
    """The exercise that has most lines, cut above its first `def` or comment that allows it."""
    for cell in exercises(notebook):
        source = cell["source"].splitlines(keepends=True)
        at = next((i for i, line in enumerate(source[1:], 1) if line.startswith(("@", "def ", "#"))), 0)
        if at and not source[at - 1].startswith("@"):
            second = copy.deepcopy(cell) if keeps else code("")
            cell["source"], second["source"] = "".join(source[:at]), "".join(source[at:])
            without(second, "id")
            notebook["cells"].insert(notebook["cells"].index(cell) + 1, second)


def merge(notebook, first: str, second: str):
    """Cells of the one kind with the cell of the other kind that follows at once, as JupyterLab merges: into the first."""
    cells = notebook["cells"]
    for cell, after in list(zip(cells, cells[1:])):
        if (kind(cell), kind(after)) == (first, second):
            cell["source"] += f"\n\n{after['source']}"
            cells.remove(after)


def all_in_one(notebook):
    first, *others = exercises(notebook)
    first["source"] = "\n\n\n".join(cell["source"] for cell in (first, *others))
    for cell in others:
        notebook["cells"].remove(cell)


def retyped(notebook):
    """Exercises cut out and pasted back as new cells, which have new ids and no metadata."""
    for cell in exercises(notebook):
        cell["metadata"], cell["id"] = {}, f"new-{cell['id'][:40]}"


def doubled(notebook, which: str):
    for cell in [cell for cell in notebook["cells"] if kind(cell) == which]:
        notebook["cells"].insert(notebook["cells"].index(cell), copy.deepcopy(cell))


for kinds in (
    ("text",),
    ("demo",),
    ("predict",),
    ("given",),
    ("check",),
    ("text", "demo", "predict"),
    ("given", "check"),
    ("text", "demo", "predict", "given", "check"),
):
    odd(f"deleted: {', '.join(kinds)}", only(*kinds))
for which in ("given", "exercise", "check", "text", "demo"):
    odd(f"each {which} twice", lambda notebook, which=which: doubled(notebook, which))
for name, cell in {
    "empty cells": code(""),
    "empty texts": text(""),
    "raw cells": text("raw <b>", cell_type="raw"),
    "cells of no kind": {"source": "x"},
    "cells of an unknown kind": text("x", cell_type="sql"),
    "cells that are empty": {},
    "cells that are null": None,
}.items():
    odd(f"{name} everywhere", everywhere(cell))
odd("texts after all code", lambda notebook: notebook["cells"].sort(key=lambda cell: cell["cell_type"] == "markdown"))
odd("texts before all code", lambda notebook: notebook["cells"].sort(key=lambda cell: cell["cell_type"] != "markdown"))
odd(
    "the written answer first",
    lambda notebook: notebook["cells"].insert(0, notebook["cells"].pop(notebook["cells"].index(written(notebook)))),
)
odd("checks at the end", lambda notebook: notebook["cells"].sort(key=lambda cell: kind(cell) == "check"))
odd("exercises cut in two, with all metadata", lambda notebook: split(notebook, True))
odd("exercises cut in two", lambda notebook: split(notebook, False))
for first, second in (
    ("exercise", "check"),
    ("given", "exercise"),
    ("given", "given"),
    ("check", "exercise"),
    ("check", "demo"),
    ("demo", "exercise"),
    ("text", "text"),
):
    odd(f"merged: {first} and {second}", lambda notebook, a=first, b=second: merge(notebook, a, b))
odd("all exercises in one cell", all_in_one)
odd("all exercises in one cell without metadata", lambda notebook: (all_in_one(notebook), each(no_ids)(notebook)))
odd("exercises as new cells", retyped)
odd("exercises as new cells, and nothing else known", lambda notebook: (retyped(notebook), each(no_ids)(notebook)))
odd("exercises marked as text", lambda notebook: [cell.update(cell_type="markdown") for cell in exercises(notebook)])
odd("the written answer as code", lambda notebook: written(notebook).update(cell_type="code", source="# " + ANSWER))
odd(
    "edited checks",
    lambda notebook: [
        cell.update(source=cell["source"] + "  # mine") for cell in notebook["cells"] if kind(cell) == "check"
    ],
)
odd(
    "edited texts",
    lambda notebook: [
        cell.update(source=cell["source"] + "\n\nmy notes") for cell in notebook["cells"] if kind(cell) == "text"
    ],
)
odd("300 cells more", lambda notebook: notebook["cells"].extend(code(f"x{i} = {i}") for i in range(300)))
odd("a scratch cell that raises", lambda notebook: notebook["cells"].insert(2, code("1 / 0")))
odd("a scratch cell that Python cannot read", lambda notebook: notebook["cells"].insert(2, code("def f(:\n  ???")))
odd(
    "a helper of one's own",
    lambda notebook: notebook["cells"].insert(2, code("def helper(x):\n    return x\n\nclass Mine: pass")),
)

# -- magics -----------------------------------------------------------------------------------------------------------

MAGICS = (
    "%matplotlib inline",
    "%precision 6",
    "!ls",
    "?len",
    "len??",
    "%timeit -n1 -r1 1",
    "%config InlineBackend.figure_format = 'svg'",
    "%load_ext autoreload\n%autoreload 2",
    "%%capture out\nprint(1)",
    "%%html\n<b>x</b>",
    "%%markdown\n![x](attachment:y.png)",
    "%%latex\n$x$",
    "%%javascript\nalert(1)",
    "%%svg\n<svg/>",
    "%%writefile x.py\ny = 1",
    "%%bash\necho x",
    "files = !ls",
    "%who",
    "%env X=1",
    "%cd .",
    "%pip --version",
    "%%time\nz = 1",
    "%no_such_magic",
    "get_ipython().run_line_magic('pwd', '')",
    "%%script false --no-raise-error\nx",
    "%pdb off",
    "%xmode Minimal",
    "from IPython.display import *",
)
for magic in MAGICS:
    with_code(f"the magic {magic.splitlines()[0]}", magic)
odd(
    "%%time above every exercise",
    lambda notebook: [cell.update(source=f"%%time\n{cell['source']}") for cell in exercises(notebook)],
)

# -- outputs that stand in the file -----------------------------------------------------------------------------------

OUTPUTS = {
    "text": {"output_type": "stream", "name": "stdout", "text": ["a\n", "\ud83d"]},
    "an error": {"output_type": "error", "ename": "E", "evalue": "\ud800", "traceback": ["\x1b[31mx"]},
    "a plot": {
        "output_type": "display_data",
        "data": {"image/png": png(), "text/plain": "<Figure>"},
        "metadata": {"needs_background": "light"},
    },
    "HTML": {
        "output_type": "execute_result",
        "data": {"text/html": ["<table>", "</table>"]},
        "metadata": {},
        "execution_count": 3,
    },
    "a widget": {
        "output_type": "display_data",
        "data": {"application/vnd.jupyter.widget-view+json": {"model_id": "x", "version_major": 2}},
        "metadata": {},
    },
    "plotly": {
        "output_type": "display_data",
        "data": {"application/vnd.plotly.v1+json": {"data": [[1, 2], {"x": None}]}},
        "metadata": {},
    },
    "an unknown kind": {"output_type": "pyout", "prompt_number": 1, "text": "x"},
    "nothing": {},
    "null": None,
    "36 MB": {"output_type": "stream", "name": "stdout", "text": "x" * 900_000},
}
for name, output in OUTPUTS.items():
    odd(
        f"outputs in the file: {name}",
        lambda notebook, output=output: [
            cell.update(outputs=[output], execution_count=7)
            for cell in notebook["cells"][:40]
            if cell["cell_type"] == "code"
        ],
    )
odd("outputs that are null", each(lambda cell: cell.update(outputs=None, execution_count="x")))
odd(
    "the state of widgets",
    lambda notebook: notebook["metadata"].update(
        widgets={"application/vnd.jupyter.widget-state+json": {"state": {"x": {"model_name": "y"}}, "version_major": 2}}
    ),
)

# -- what cells put out when they run ---------------------------------------------------------------------------------

DISPLAY = "from IPython.display import *\n"
RUNS = {
    "half an emoji": r"print('\ud83d')", "an error with half an emoji": r"raise ValueError('\ud800')", "a picture that is not there": DISPLAY + "display(Markdown('![x](attachment:y.png)'))",
    "a plot": "import matplotlib.pyplot as plt\nplt.plot([1, 2]);\nplt.show()", "deep HTML": DISPLAY + "HTML('<div>' * 9000)", "deep CSS": DISPLAY + "HTML('<b style=\"color:' + '(' * 5000 + '\">')",
    "LaTeX": DISPLAY + r"Latex(r'$\frac{1}{2}$'); Math('x')", "an SVG": DISPLAY + "SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')", "JSON": DISPLAY + "JSON({'a': [1, None]})", "a script": DISPLAY + "Javascript('1')",
    "colours of the terminal": r"print('\x1b[31mred\x1b[0m \x1b[38;5;200mx\x1b[999mz')", "a bar of progress": "import sys\nfor i in range(200):\n    print(f'\\r{i}', end='')", "bytes": "import os\nos.write(1, b'\\xff\\xfe')",
    "a repr that raises": "class Bad:\n    def __repr__(self):\n        raise ValueError('x')\nBad()", "300 kB of text": "print('x' * 300_000)", "warnings": "import warnings, logging\nwarnings.warn('careful')\nlogging.error('x')",
    "a table": "class T:\n    def _repr_html_(self):\n        return '<table><tr><td>1</td></tr></table>'\nT()", "an output that changes": DISPLAY + "h = display('a', display_id=True)\nh.update('b')\nclear_output()",
    "an odd text of NumPy's": "import numpy as np\nnp.array(['\\ud800', 'a\\0b'])", "a nested error": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('x') from e",
    "a sound": DISPLAY + "Audio(data=[0, 1, 0], rate=8000)", "a film": DISPLAY + "YouTubeVideo('x')", "all at once": DISPLAY + "display({'text/html': '<b>', 'text/markdown': '*x*', 'image/png': 'AAAA', 'x/y': 'z'}, raw=True)",
}  # fmt: skip
for name, source in RUNS.items():
    with_code(f"a cell that puts out: {name}", source, live=True)


def together() -> bytes:
    """As much of it as one notebook can hold."""
    notebook = plain()
    at = notebook["cells"].index(exercises(notebook)[0])
    texts = [text(source) for source in TEXTS.values()] + [text(each) for each in CHARACTERS.values()]
    pictures = [text("![i](attachment:a.png)", attachments={"a.png": {mime: data}}) for mime, data in PICTURES.items()]
    codes = [code(source) for source in (*MAGICS, *RUNS.values()) if "autoreload" not in source]
    notebook["cells"][at:at] = texts + pictures + codes
    return encoded(notebook)


# -- the other lessons ------------------------------------------------------------------------------------------------

WAYS = {
    "neither ids nor metadata": each(no_ids),
    "in Colab": lambda notebook: colab(notebook, False),
    "in format 3": None,
}


def other_lessons() -> list[tuple[str, str]]:
    """(module, way) for the lessons that ODD has not."""
    return [(module, way) for module in paths.module_names() if module != MODULE for way in WAYS]


def of_lesson(module: str, way: str) -> bytes:
    notebook = plain(module)
    if WAYS[way] is None:
        return encoded(as_format_3(notebook))
    WAYS[way](notebook)
    return encoded(notebook)
