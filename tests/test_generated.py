"""What is generated beside the notebooks: it is what the lessons give, and is written anew where it is not."""

from autograder import paths
from autograder.lesson import generated


def test_the_files_are_what_the_lessons_give():
    assert generated.stale() == [] and len(generated.files()) == 3


def test_another_text_is_stale_and_written_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(generated, "files", lambda: {tmp_path / "page.md": "text"})
    assert generated.stale() == ["page.md is not what the lessons give"]
    assert generated.write() == [tmp_path / "page.md"] and generated.write() == generated.stale() == []
