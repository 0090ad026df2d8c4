"""`draw_course()`: the map of the course, with three engines for one method and what each is checked against."""

from tinygrad_cl.viz.svg import BLUE, GREEN, INK, MUTED, ORANGE, PALE, SKY, Picture, path, rect, text

MODULES = {  # number: (name, what it is about)
    "00": ("start", "your device"),
    "01": ("value", "the engine"),
    "02": ("neuron", "training"),
    "03": ("broadcast", "shapes"),
    "04": ("function", "the engine"),
    "05": ("layers", "digits"),
    "06": ("control", "if, while"),
    "07": ("memory", "bytes saved"),
    "08": ("custom", "your own op"),
    "09": ("kernels", "OpenCL C"),
    "10": ("tape", "the engine"),
    "11": ("custom op", "sin(a)·b"),
    "12": ("jit", "one kernel"),
    "13": ("mnist", "digits"),
    "14": ("parallel", "over MPI"),
    "15": ("attention", "capstone"),
}
ENGINES = [  # (title, one node is …, how it computes, checked against, its modules, colour)
    ("1  Value", "a node is one number", "plain Python", "central differences", slice(0, 3), ORANGE),
    ("2  Tensor", "a node is an array", "NumPy", "engine 1 and central differences", slice(3, 9), SKY),
    (
        "3  Tape",
        "a node is an array on a device",
        "OpenCL kernels that you write",
        "NumPy, engine 2 and central differences",
        slice(9, 16),
        GREEN,
    ),
]
TILE, GAP, LEFT, TOP, BAND, HEIGHT = 92, 8, 18, 48, 152, 66  # pixels


def draw_course(here: str = "00") -> Picture:
    """The sixteen modules in their three engines; the module `here` is marked.

    >>> draw_course("01")
    Picture(map of the course, 728 × 504)
    """
    if here not in MODULES:
        raise ValueError(f"there is no module {here!r}; the modules are {', '.join(MODULES)}")
    width = 2 * LEFT + 7 * TILE + 6 * GAP
    parts = [text(LEFT, 32, "One method, reverse-mode differentiation. You build it three times.", size=16, bold=True)]
    modules = list(MODULES.items())
    for row, (title, node, computes, checked, members, colour) in enumerate(ENGINES):
        top = TOP + row * BAND
        below = top + 34 + HEIGHT + 20
        parts += [
            text(LEFT, top + 22, title, size=15, bold=True),
            text(LEFT + 92, top + 22, f"{node} · {computes}"),
            text(width - LEFT, below, f"✓ checked against {checked}", size=12, anchor="end", fill=BLUE),
        ]
        if row < len(ENGINES) - 1:
            parts += [
                path(f"M{LEFT + 20} {below - 11}v20m-5 -6l5 6l5 -6", stroke=MUTED, stroke_width=2),
                text(LEFT + 36, below, "the same idea, more numbers at once", size=12, fill=MUTED),
            ]
        for place, (key, (name, about)) in enumerate(modules[members]):
            x, y, marked = LEFT + place * (TILE + GAP), top + 34, key == here
            parts += [
                rect(x, y, TILE, HEIGHT, PALE[colour], INK if marked else colour, 6, 3 if marked else 1.5),
                text(x + 9, y + 20, key, size=12, mono=True, bold=marked),
                text(x + 9, y + 39, name, bold=True),
                text(x + 9, y + 55, about, size=11.5, fill=MUTED),
            ]
            if marked:
                parts.append(text(x + TILE - 9, y + 20, "● here", size=11, anchor="end", bold=True))
    return Picture(parts, width, TOP + 3 * BAND, "map of the course")
