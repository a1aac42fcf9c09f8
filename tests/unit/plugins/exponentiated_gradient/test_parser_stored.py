"""Parsers in folders: written, read, found by name, and errors for other folders."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from damaged_folders import change_array, change_header, common_damages
from disambig_exponentiated_gradient import load_parser
from disambig_exponentiated_gradient.parser import FILE, grammar_digest, read_parser, save_parser
from made_trees import TEXT, parser

from disambig import registry
from disambig.api.packs import load_standalone, standalone_card
from disambig.doctor import checks
from disambig.errors import UserError
from disambig.files import HEADER, digest_arrays
from disambig.packs import read_pack
from disambig.testing import check_standalone


@pytest.fixture
def folder(tmp_path):
    save_parser(parser(), tmp_path / "my", about={"trees": 24})
    return tmp_path / "my"


def test_what_is_read_parses_as_what_was_written(folder):
    again = load_parser(folder)
    assert again.parse(TEXT) == parser().parse(TEXT)
    assert grammar_digest(again) == grammar_digest(parser())
    assert json.loads((folder / HEADER).read_text())["about"] == {"trees": 24}
    for trees in again.nbest(TEXT, 5):
        scores = [score for _, score in trees]
        assert scores == sorted(scores, reverse=True) and len({tree for tree, _ in trees}) == len(trees)
    change_array(folder / FILE, "binary", lambda array: array + 100_000)
    change_header(folder, digest=digest_arrays(dict(np.load(folder / FILE))))
    with pytest.raises(UserError, match="D635"):
        read_parser(folder)


BROKEN = {
    **common_damages(FILE),
    "a threshold that is none": lambda folder: change_header(folder, threshold=2.0),
    "another number": lambda folder: change_array(folder / FILE, "binary", lambda array: array + 1),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_parser_is_one_line(folder, what):
    BROKEN[what](folder)
    with pytest.raises(UserError) as caught:
        read_parser(folder)
    assert caught.value.code == "D900" and "\n" not in str(caught.value)


def test_names_of_nothing(tmp_path, monkeypatch):
    for brought, wanted in (((), "install the pack disambig_en_parser .*"), (("disambig_en_parser",), "")):
        found = {name: SimpleNamespace(name=name, folders={"parser": tmp_path}) for name in brought}
        monkeypatch.setattr("disambig.packs.packs", lambda found=found: found)
        with pytest.raises(
            UserError, match=rf"D901.*'nothing_en', neither a folder nor a pack: {wanted}name a f"
        ):
            load_parser("nothing_en")
    monkeypatch.undo()
    (tmp_path / "trees.mrg").touch()
    with pytest.raises(UserError, match=r"D943.*is a file, but a parser is a folder: .*train-parser"):
        load_parser(tmp_path / "trees.mrg")
    with pytest.raises(UserError, match="D902"):
        load_parser(tmp_path)
    with pytest.raises(UserError, match="D902"):
        load_parser("disambig_en")  # a pack without a parser


def test_arguments_that_cannot_be():
    for k in (0, 1001, True, 2.0):
        with pytest.raises(UserError, match="D903"):
            parser().nbest(TEXT, k)
    with pytest.raises(UserError, match="D904"):
        parser().sentences("A dog.")


def test_a_parser_is_loaded_without_naming_its_class(folder):
    again = load_standalone(folder)
    assert type(again) is type(parser()) and again.language == "en"
    assert (
        again.describe()
        == parser().describe()
        == f"parser of constituents: {parser().describe().split()[3]} rules"
    )
    again.save(folder.parent / "copy")
    assert grammar_digest(load_standalone(folder.parent / "copy")) == grammar_digest(parser())
    card = standalone_card(again, "my", use="disambig parse --model my", training=["learned from 24 trees"])
    assert card.startswith("# my\n\nParser of constituents") and "* learned from 24 trees" in card
    change_header(folder, format="disambig.treebank_parsers.v1")
    with pytest.raises(UserError, match=r"D917.*'disambig.treebank_parsers.v1'; .*treebank_parser.v1"):
        load_standalone(folder)
    with pytest.raises(
        UserError, match=r"D404.*'disambig_en_dependencis/dependencies'.*disambig_en_dependencies/"
    ):
        load_standalone("disambig_en_dependencis/dependencies")


@pytest.mark.parametrize("damage", [False, True])
def test_the_doctor_reads_the_parser_of_a_pack(tmp_path, monkeypatch, damage):
    home = tmp_path / "toy_trees"
    save_parser(parser(), home / "parser")
    manifest = {"name": "toy_trees", "version": "1", "language": "en", "models": {}}
    (home / "pack.json").write_text(json.dumps({**manifest, "folders": {"parser": "parser"}}))
    if damage:
        BROKEN["cut short"](home / "parser")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(checks, "entry_points", lambda group: [SimpleNamespace(value="toy_trees", dist=None)])
    if not damage:
        monkeypatch.setattr("disambig.models.standalone.packs", lambda: {"toy_trees": read_pack(home)})
        for name in ("toy_trees", "toy_trees/parser"):
            assert load_standalone(name).describe() == parser().describe()
    _, model = checks.check_packs(checks.CheckedPacks())
    assert model.status == (checks.PROBLEM if damage else checks.OK)
    assert ("D900" if damage else f"toy_trees/parser, language en: {parser().describe()}") in model.what


def test_classes_of_models_that_lack_something_are_named(monkeypatch):
    methods = dict.fromkeys(("load", "save", "describe"), lambda self: None)
    for content, problem in (
        *(({"formats": formats}, "formats are") for formats in (None, "x/1", (), ("",))),
        ({"formats": ("toy.v1",), **methods}, "no method 'records'"),
    ):
        module = SimpleNamespace(Model=type("Model", (), content))
        monkeypatch.setitem(sys.modules, "toy_models", module)
        with pytest.raises(UserError, match=rf"D007.*toy.Model.v1.*{problem}"):
            registry.Entry("models", "toy.Model.v1", "toy", "toy_models:Model").load()


def test_a_format_belongs_to_the_first_class_that_reads_it(folder, monkeypatch, caplog):
    other = type("Other", (), {"formats": type(parser()).formats})
    classes = registry.load_all("models")
    monkeypatch.setattr(registry, "load_all", lambda kind: {**classes, "toy.Other.v1": other})
    assert type(load_standalone(folder)) is type(parser())
    assert "D918" in caplog.text and "toy.Other.v1" in caplog.text


def test_contract_of_standalone_models():
    for check in check_standalone(parser(), [TEXT, "A dog ran."]):
        check()
