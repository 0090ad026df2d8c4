"""The glossary, docs/glossary.md: each term with the sentence that introduces it. A lesson marks it: <dfn>leaf</dfn>."""

import re
from dataclasses import dataclass

from autograder import paths
from autograder.errors import CourseError
from autograder.lesson.text import Lesson, read_lesson

FILE = paths.ROOT / "docs" / "glossary.md"
HEAD = """# Glossary

{terms} terms, each with the sentence that introduces it; the number leads to the lesson.

This page is built from the lessons (`python -m autograder build`): a term is marked `<dfn>` where it is introduced.

"""
DFN = re.compile(r"<dfn>(.+?)</dfn>", re.DOTALL)  # a term may go on in the next line
SENTENCE_END = re.compile(r"[.!?][)»*]*(?=\s+[^a-z\s]|$)")  # no abbreviation, which goes on with a small letter
LIST_ITEM = re.compile(r"^(?:[-*]|\d+\.) ", re.MULTILINE)


@dataclass(frozen=True)
class Term:
    """A term, the sentence that introduces it, and the lesson in which that stands."""

    name: str
    sentence: str
    module: str

    @property
    def line(self) -> str:
        link = f"[{self.module[:2]}](../modules/{self.module}/{self.module}.ipynb#{anchor(self.name)})"
        sentence = DFN.sub(r"*\1*", self.sentence)
        return f"- **{self.name}** ({link}): {sentence}\n"


def anchor(term: str) -> str:
    """Where the site has a term on its lesson's page."""
    return "term-" + re.sub(r"\W+", "-", term.lower()).strip("-")


def with_anchors(text: str) -> str:
    """The text of a cell as the site shows it: the glossary's links lead to its terms."""
    return DFN.sub(lambda match: f'<dfn id="{anchor(match[1])}">{match[1]}</dfn>', text)


def terms_of(lesson: Lesson) -> list[Term]:
    """The terms that a lesson introduces, in its order."""
    texts = [cell.source for cell in lesson.cells if cell.kind == "text"]
    return [
        Term(match[1], sentence, lesson.module)
        for text in texts
        for sentence in sentences(text)
        for match in DFN.finditer(sentence)
    ]


def sentences(text: str) -> list[str]:
    """The sentences of a text cell, each in one line. A paragraph, a list item and a line of a table end theirs."""
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\||[-*] |\d+\. )", text):
        line = " ".join(LIST_ITEM.sub("", paragraph).split())
        start = 0
        for end in [match.end() for match in SENTENCE_END.finditer(line)] + [len(line)]:
            if sentence := line[start:end].strip():
                found.append(sentence)
            start = end
    return found


def page() -> str:
    """The text of docs/glossary.md; a CourseError names a term that is introduced twice."""
    found: dict[str, Term] = {}
    for module in paths.module_names():
        for term in terms_of(read_lesson(module)):
            before = found.setdefault(term.name.lower(), term)
            if before is not term:
                raise CourseError(
                    f"«{term.name}» is introduced in {before.module} and in {term.module}: mark it <dfn> in one of them"
                )
    lines = [term.line for _, term in sorted(found.items())]
    return HEAD.format(terms=len(lines)) + "".join(lines)
