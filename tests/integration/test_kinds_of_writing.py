"""The setting `writing` wherever a user sets it: more is flagged in what a learner wrote than in a book."""

from __future__ import annotations

import json
import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from commands import here, process
from lsp_wire import Wire
from running_server import running
from tiny_models import save_second_look

from disambig.api import annotate, load_model
from disambig.data import WORDS_PER_MISTAKE, mistakes_per_1000
from disambig.errors import UserError
from disambig.models import ModelSet, ModelSource, annotate_separately, unused_writing, with_writing

TEXT = "We like a quite street, and the room is quiet at night. He wants a peace of cake.\n"
WRONG = ["quite", "peace"]
"""Flagged if a learner wrote it, and not by default."""
UNKNOWN = "[D953] unknown kind of writing 'lerner'; available: learner, "


@pytest.fixture(scope="module")
def model(small_table, tmp_path_factory):
    """A directory with a model that looks twice, beside one of the same task that does not."""
    return save_second_look(tmp_path_factory.mktemp("writing"), small_table)


@pytest.fixture
def home(tmp_path):
    (tmp_path / "notes.txt").write_text(TEXT)
    return tmp_path


def once(model):
    return str(Path(model).with_name("spelling"))


def flagged(decisions):
    return [TEXT[decisions.starts[i] : decisions.ends[i]] for i in decisions.flagged.nonzero()[0]]


def test_the_densities_are_those_of_the_kinds():
    assert {kind: round(mistakes_per_1000(kind), 1) for kind in WORDS_PER_MISTAKE} == {
        "published": 0.5,
        "edited": 2.5,
        "draft": 10.0,
        "learner": 66.7,
    }


def test_a_set_of_models_assumes_what_the_writing_is(model):
    loaded = load_model(model)
    (learner,) = annotate([TEXT], [loaded], writing="learner")
    (default,) = annotate([TEXT], [loaded])
    assert flagged(learner) == WRONG and flagged(default) == []
    assert flagged(annotate_separately([TEXT], [loaded], writing="learner")[0]) == WRONG
    assert ModelSet((loaded,), writing="draft").models[0].mistakes_per_1000 == 10.0
    assert with_writing([loaded], None) == (loaded,) and loaded.mistakes_per_1000 == 5.0
    with pytest.raises(UserError, match="D953"):
        annotate([TEXT], [loaded], writing="lerner")


@given(
    words=st.lists(st.sampled_from(["quite", "quiet", "place", "a", "the", "peace", "of", "."]), max_size=30)
)
def test_more_mistakes_never_lower_a_probability(model, words):
    loaded = load_model(model)
    texts = [" ".join(words), TEXT]
    before = None
    for kind in WORDS_PER_MISTAKE:
        (decisions,) = annotate_separately(texts, [loaded], writing=kind)
        assert before is None or (before <= decisions.probabilities + 1e-7).all()
        before = decisions.probabilities


def test_no_model_that_uses_it_is_told_where_it_was_asked_for(model):
    single = load_model(once(model))
    assert single.with_mistakes_per_1000(10.0) is single
    assert unused_writing([single], None) is None
    assert unused_writing([single, load_model(model)], "draft") is None
    with pytest.warns(UserWarning, match=r"\[D954\] `writing` \(draft\) has no effect.*tiny/spelling"):
        annotate([TEXT], [single], writing="draft")
    unfitted = replace(load_model(model), judge=replace(load_model(model).judge, weights=None))
    assert unused_writing([unfitted], "draft").code == "D954"


def test_check_takes_an_option_or_a_setting(model, home):
    common = ("check", "notes.txt", "--model", model)
    assert here(*common, folder=home).returncode == 0
    done = process(*common, "--writing", "learner", folder=home)
    assert done.returncode == 1 and done.stdout.count("notes.txt:1:") == 2 and "D954" not in done.stderr
    (home / "disambig.toml").write_text('writing = "published"\n[overrides."*.txt"]\nwriting = "learner"\n')
    assert here(*common, folder=home).stdout == done.stdout
    assert here(*common, "--writing", "edited", folder=home).returncode == 0
    shown = here("check", "--show-settings", "notes.txt", folder=home).stdout
    assert 'writing = "learner"  # disambig.toml' in shown
    (home / "disambig.toml").write_text('writing = "lerner"\n')
    refused = here(*common, folder=home)
    assert refused.returncode == 2 and "[D971]" in refused.stderr and UNKNOWN in refused.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("check", "notes.txt"),
        ("annotate", "notes.txt"),
        ("evaluate", "--fixes", "fixes.jsonl"),
        ("serve",),
        ("lsp",),
    ],
    ids=lambda command: command[0],
)
def test_every_command_refuses_an_unknown_kind(home, command):
    done = here(*command, "--writing", "lerner", folder=home)
    assert done.returncode == 2 and UNKNOWN in done.stderr and not done.stdout
    assert "--writing" in here(command[0], "--help").stdout


def test_one_note_says_that_no_model_uses_it(model, home):
    done = here("check", "notes.txt", "--model", once(model), "--writing", "learner", folder=home)
    assert done.stderr.count("[D954]") == 1
    done = here("annotate", "notes.txt", "--model", once(model), "--writing", "learner", folder=home)
    assert done.returncode == 0 and done.stderr.count("[D954]") == 1


def test_annotate_takes_it_alone_and_with_workers(model, home):
    common = ("annotate", "notes.txt", "--model", model, "--format", "jsonl", "--quiet")
    kinds = {kind: process(*common, "--writing", kind, folder=home) for kind in ("learner", "edited")}
    found = {
        kind: [each["observed"] for each in json.loads(done.stdout)["decisions"] if each["flagged"]]
        for kind, done in kinds.items()
    }
    assert found == {"learner": WRONG, "edited": []}
    job = here(*common, "--writing", "learner", "--output", "job", "--workers", "2", folder=home)
    assert job.returncode == 0
    again = here(*common, "--writing", "draft", "--output", "job", folder=home)
    assert again.returncode == 2  # a job is resumed with the settings that it was started with
    assert ModelSource(models=(model,), writing="draft").describe()["writing"] == "draft"


def test_evaluate_assumes_it_in_human_errors(model, home):
    row = {"before": TEXT, "start": 10, "end": 15, "old": "quite", "new": "quiet"}
    row |= {"class": "confusion", "repo": "a", "tier": 1}
    (home / "fixes.jsonl").write_text(json.dumps(row) + "\n")
    common = ("evaluate", model, "--fixes", "fixes.jsonl", "--rate", "1")
    figures = json.loads(process(*common, "--json", "--writing", "learner", folder=home).stdout)
    assert figures["writing"] == "learner" and figures["all"]["right"] == 1.0
    default = json.loads(here(*common, "--json", folder=home).stdout)
    assert "writing" not in default and default["all"]["right"] == 0.0
    done = here(*common, "--writing", "learner", folder=home)
    assert "; writing: learner" in done.stdout
    done = here("evaluate", once(model), *common[2:], "--writing", "draft", folder=home)
    assert done.stderr.count("[D954]") == 1
    assert here("evaluate", model, "--text", "notes.txt", "--writing", "draft", folder=home).returncode == 2


def test_a_server_takes_an_option_and_a_field_of_a_request(model, home):
    with running("--model", model, "--writing", "learner", folder=home) as (port, _):
        base = f"http://127.0.0.1:{port}"

        def matches(**fields):
            answer = httpx.post(f"{base}/v2/check", data={"language": "en", "text": TEXT, **fields})
            return len(answer.json()["matches"]) if answer.status_code == 200 else answer.text

        def decided(**fields):
            return httpx.post(f"{base}/annotate", json={"text": TEXT, **fields})

        assert (matches(), matches(writing=""), matches(writing="edited")) == (2, 2, 0)
        assert matches(writing="lerner").startswith("Error: [D883] unknown kind of writing 'lerner'")
        assert sum(each["flagged"] for each in decided().json()["decisions"]) == 2
        assert sum(each["flagged"] for each in decided(writing="draft").json()["decisions"]) == 0
        assert decided(writing=3).status_code == 400
        assert "disambig-note" not in decided(writing="draft").headers


def test_a_server_whose_models_do_not_use_it_says_so(model, home):
    log = []
    with running("--model", once(model), "--writing", "draft", folder=home, log=log) as (port, _):
        answer = httpx.post(f"http://127.0.0.1:{port}/annotate", json={"text": TEXT, "writing": "learner"})
        assert answer.status_code == 200 and answer.headers["disambig-note"].startswith("[D954] ")
        plain = httpx.post(f"http://127.0.0.1:{port}/annotate", json={"text": TEXT})
        assert "disambig-note" not in plain.headers
    assert sum("[D954]" in line for line in log) == 1


@pytest.mark.parametrize(
    ("options", "editor", "n"),
    [
        ((), {}, 0),
        ((), {"writing": "learner"}, 2),
        (("--writing", "learner"), {}, 2),
        (("--writing", "learner"), {"writing": "edited"}, 0),
    ],
)
def test_an_editor_takes_an_option_and_its_own_settings(model, home, options, editor, n):
    with Wire.started(home, *options) as wire:
        wire.initialize({"models": [os.path.relpath(model, home)], **editor}, root=home)
        wire.open(TEXT, uri=(home / "notes.md").as_uri())
        assert len(wire.diagnostics(1)["diagnostics"]) == n
        assert wire.end() == 0


def test_an_editor_is_told_what_is_wrong_or_without_effect(model, home):
    with Wire.started(home) as wire:
        wire.initialize({"models": [once(model)], "writing": "draft"}, root=home)
        wire.open(TEXT, uri=(home / "notes.md").as_uri())
        assert "[D954]" in wire.told()["message"]
        wire.send("workspace/didChangeConfiguration", {"settings": {"writing": "lerner"}})
        assert "[D953] unknown kind of writing 'lerner'" in wire.told()["message"]
        assert wire.end() == 0


@pytest.mark.parametrize("factory", ["disambig", "disambig_spelling", "disambig_proofread"])
def test_a_component_takes_it(model, factory):
    key = "proofread" if factory == "disambig_proofread" else "spelling"

    def flags(directory, **settings):
        nlp = spacy.blank("en")
        named = {"models": [directory]} if key == "proofread" else {"model": directory}
        nlp.add_pipe(factory, config={**named, **settings})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the paragraph is short
            spans = nlp(TEXT.strip()).spans[key]
        return [span.text for span in spans if span._.disambig["flagged"]]

    assert flags(model) == [] and flags(model, writing="learner") == WRONG
    with pytest.raises(UserError, match="D953"):
        flags(model, writing="lerner")
    with pytest.raises(UserError, match="D516"):
        flags(model, writing=3)
    with pytest.warns(UserWarning, match=rf"component '{factory}': \[D954\]"):
        flags(once(model), writing="draft")
