"""Lines of files for commands: without their ends, with where they stand, and coded errors."""

from __future__ import annotations

import gzip
import io
import sys

import pytest

from disambig.cli.output import open_results
from disambig.errors import UserError
from disambig.formats import lines_in


def test_lines_of_several_files(tmp_path, monkeypatch):
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_bytes("\ufeffかな\r\n\r\n last".encode())
    packed.write_bytes(gzip.compress("\ufeff1\n\ufeff2\n".encode()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"typed\r\r\n")))
    assert list(lines_in([str(plain), str(packed), "-"])) == [
        (f"{plain}:1", "かな"),
        (f"{plain}:2", ""),
        (f"{plain}:3", " last"),
        (f"{packed}:1", "1"),
        (f"{packed}:2", "\ufeff2"),
        ("-:1", "typed\r"),
    ]


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("none.txt", None, "D300"),
        ("a.txt", b"\xff\n", "D304"),
        ("b.txt", b"a\0\n", "D303"),
        ("c.gz", b"x", "D308"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, name, data, code):
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(UserError, match=f"{code}.*{name}"):
        list(lines_in([str(path)]))


def test_results_go_to_a_file_whole_or_not_at_all(tmp_path, capsysbinary):
    path = tmp_path / "out.txt"
    with pytest.raises(RuntimeError), open_results(path) as write:
        write("half")
        raise RuntimeError
    assert not path.exists() and not list(tmp_path.iterdir())
    with open_results(path) as write:
        write("猫")
        write("\n")
    assert path.read_text(encoding="utf8") == "猫\n"
    with pytest.raises(UserError, match="D310"), open_results(path):
        pass
    with open_results(path, force=True) as write:
        write("other")
    assert path.read_bytes() == b"other"
    with open_results(None) as write:
        write("猫\n")
    assert capsysbinary.readouterr().out == "猫\n".encode()
    with pytest.raises(UserError, match="D309"), open_results(tmp_path / "no" / "out.txt"):
        pass
