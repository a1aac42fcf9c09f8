from __future__ import annotations

import os

import pytest

from disambig.errors import UserError
from disambig.formats import find_inputs


@pytest.fixture
def corpus(tmp_path):
    for name in ("b.txt", "a.txt", "deep/c.jsonl.gz", "deep/er/d.ndjson", ".hidden/e.txt", ".f.txt", "g.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def test_directories_are_searched_in_order_without_hidden_and_unknown_files(corpus):
    found = find_inputs([str(corpus)])
    assert [entry.name for entry in found] == ["a.txt", "b.txt", "deep/c.jsonl.gz", "deep/er/d.ndjson"]
    assert [entry.kind for entry in found] == ["file", "file", "json", "json"]


def test_a_file_named_is_read_whatever_its_suffix_and_each_file_once(corpus):
    found = find_inputs([str(corpus / "g.py"), str(corpus / "b.txt"), str(corpus)], lines=True)
    assert [entry.name for entry in found] == [
        "g.py",
        "b.txt",
        "a.txt",
        "deep/c.jsonl.gz",
        "deep/er/d.ndjson",
    ]
    assert found[0].kind == "line"


def test_names_tell_files_of_several_directories_apart(corpus):
    (corpus / "deep" / "a.txt").write_text("x")
    found = find_inputs([str(corpus / "a.txt"), str(corpus / "deep" / "a.txt")])
    assert [entry.name for entry in found] == ["a.txt", os.path.join("deep", "a.txt")]


def test_the_output_directory_is_not_entered(corpus):
    found = find_inputs([str(corpus)], exclude=[str(corpus / "deep")])
    assert [entry.name for entry in found] == ["a.txt", "b.txt"]


def test_standard_input_is_jsonl_where_a_field_was_given():
    assert [entry.kind for entry in find_inputs(["-"])] == ["file"]
    assert [entry.kind for entry in find_inputs(["-"], lines=True)] == ["line"]
    assert [entry.kind for entry in find_inputs(["-"], other="json")] == ["json"]


def test_links_to_nowhere_are_named_and_left_out(corpus):
    (corpus / "z.txt").symlink_to(corpus / "nowhere.txt")
    notes = []
    inputs = find_inputs([str(corpus)], note=notes.append)
    assert [entry.name for entry in inputs] == ["a.txt", "b.txt", "deep/c.jsonl.gz", "deep/er/d.ndjson"]
    (note,) = notes
    assert note.text == f"not read: 1 file by suffix (.py 1), 1 dangling link ({corpus / 'z.txt'})"
    with pytest.raises(UserError, match=r"D300.*z\.txt"):
        find_inputs([str(corpus / "z.txt")])


def test_what_is_not_there_is_an_error(tmp_path):
    with pytest.raises(UserError, match=r"D300.*nowhere"):
        find_inputs([str(tmp_path / "nowhere")])
    with pytest.raises(UserError, match=r"D301.*\.txt, \.md, .*\.jsonl"):
        find_inputs([str(tmp_path)])


def test_what_a_directory_says_of_itself_is_no_document_unless_named(tmp_path):
    for name in ("README.md", "a.md", "b.txt"):
        (tmp_path / name).write_text("Text.")
    assert [entry.name for entry in find_inputs([str(tmp_path)])] == ["a.md", "b.txt"]
    assert [entry.name for entry in find_inputs([str(tmp_path / "README.md")])] == ["README.md"]
