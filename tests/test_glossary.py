"""The glossary: it is what the lessons give, and each sentence can be read alone."""

import re

import pytest

from autograder import paths
from autograder.errors import CourseError
from autograder.lesson import glossary
from autograder.lesson.glossary import DFN, sentences, terms_of
from autograder.lesson.text import read_lesson

LESSONS = [read_lesson(module) for module in paths.module_names()]
TERMS = [term for lesson in LESSONS for term in terms_of(lesson)]
LONGEST = 45  # words
POINTS_OUTSIDE = re.compile(r"^(It|They|This|These|That|Here|So|And|But|Then|There)\b")


def test_the_page_is_what_the_lessons_give():
    text = glossary.FILE.read_text(encoding="utf-8")
    assert all(text.count(f"- **{term.name}** (") == 1 for term in TERMS) and len(TERMS) >= 80


def test_every_lesson_introduces_terms_and_marks_them_in_its_text():
    assert {term.module for term in TERMS} == set(paths.module_names())
    marked = [cell.id for lesson in LESSONS for cell in lesson.cells if cell.kind != "text" and "<dfn" in cell.source]
    assert marked == []
    assert sum(len(re.findall("</?dfn", cell.source)) for lesson in LESSONS for cell in lesson.cells) == 2 * len(TERMS)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.module)
def test_each_term_has_its_anchor_in_the_text_of_its_lesson(lesson):
    text = "".join(glossary.with_anchors(cell.source) for cell in lesson.cells if cell.kind == "text")
    assert re.findall(r'<dfn id="([^"]*)">', text) == [glossary.anchor(term.name) for term in terms_of(lesson)]


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_sentence_can_be_read_alone(term):
    assert len(term.sentence.split()) <= LONGEST
    assert not POINTS_OUTSIDE.match(term.sentence), term.sentence
    assert term.sentence.rstrip("*)»")[-1] in ".!?", term.sentence
    assert term.sentence.count("**") % 2 == 0 and term.sentence.count("`") % 2 == 0, term.sentence


@pytest.mark.parametrize(
    "text, wanted",
    [
        (
            "A <dfn>leaf</dfn> is a tensor, e.g. a\nweight. It has `x.grad`.",
            "A <dfn>leaf</dfn> is a tensor, e.g. a weight.",
        ),
        ("So 1.5 is no end. See `a.b`! A <dfn>leaf</dfn>, then (of it.) And on", "A <dfn>leaf</dfn>, then (of it.)"),
        ("First:\n- a <dfn>leaf</dfn> here\n- two", "a <dfn>leaf</dfn> here"),
        ("| x |\n| a <dfn>leaf</dfn> |\n| y |", "| a <dfn>leaf</dfn> |"),
        ("One.\n\nA <dfn>leaf</dfn> ends\n\nhere.", "A <dfn>leaf</dfn> ends"),
    ],
)
def test_a_sentence_ends_where_a_reader_sees_its_end(text, wanted):
    assert [each for each in sentences(text) if DFN.search(each)] == [wanted]


def test_a_term_that_is_introduced_twice_is_one_sentence(monkeypatch):
    monkeypatch.setattr(glossary, "terms_of", lambda lesson: [glossary.Term("Leaf", "A leaf.", lesson.module)])
    with pytest.raises(CourseError, match="«Leaf» is introduced in 00_start and in 01_value: mark it <dfn> in one"):
        glossary.page()
