"""``disambig evaluate --fixes``, and kinds of writing."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx
import numpy as np
import pytest
import spacy
from commands import here
from examples import fewer_examples
from hypothesis import given, strategies as st
from lsp_wire import Wire
from running_server import running
from tiny_models import save_second_look

from disambig.api import load_model
from disambig.checking import ModelChecker, decisions_to_edits
from disambig.cli.commands.evaluate import fixes_lines
from disambig.data import WORDS_PER_MISTAKE, mistakes_per_1000
from disambig.decision import edit_slots, extend_to_next_word, surviving_edits, task_ranks
from disambig.errors import UserError
from disambig.formats import paragraph_digest, read_clean, read_fixes, read_flag_readings
from disambig.models import ModelSource, annotate, annotate_separately, unused_writing, with_writing

FIXES = [
    ("It was more then we had hoped for.", 12, "then", "than", "confusion", "a", 1),
    ("He did it and than he left.", 14, "than", "then", "confusion", "b", 1),
    ("We wait on the bus.", 8, "on", "for", "preposition", "b", 1),
    ("They accept for the last one.", 12, "for", "", "preposition", "b", 2),
]

CLEAN = ["We saw more than ever before.", "And then they went home for a week."]


def fixes_and_clean(folder):
    rows = [
        {"before": t, "start": s, "end": s + len(o), "old": o, "new": n, "class": c, "repo": r, "tier": tier}
        for t, s, o, n, c, r, tier in FIXES
    ]
    texts = [{"text": text, "repo": repo} for text, repo in zip(CLEAN, "ab", strict=True)]
    paths = folder / "fixes.jsonl", folder / "clean.jsonl"
    for path, item in zip(paths, (rows, texts), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in item), encoding="utf8")
    return tuple(map(str, paths))


def readings_of_flags(folder):
    """Return readings of two flags in a paragraph: of a mistake and of an accepted form."""
    text = "We wait in a quite place and see more then one of them."
    rows = []
    for old, new, about in (
        ("then", "than", {"label": "mistake", "right": True}),
        ("quite", "quiet", {"label": "taste"}),
    ):
        start = text.index(old)
        place = {"start": start, "end": start + len(old), "new": new}
        rows.append({"paragraph": paragraph_digest(text), **place, **about})
    paths = folder / "unread.jsonl", folder / "readings.jsonl"
    paths[0].write_text(json.dumps({"text": text, "repo": "c"}), encoding="utf8")
    paths[1].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return tuple(map(str, paths))


run = partial(here, "evaluate")


def test_a_table_of_what_ships(tmp_path):
    fixes, clean = fixes_and_clean(tmp_path)
    status, out, _ = run("--fixes", fixes, "--clean", clean, "--rate", "1", "--rate", "4")
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "read 3 mistakes of 2 projects, 14 clean words of 2 projects"
    assert "disambig_en/preposition" in lines[1] and "disambig_en/spelling" in lines[1]
    table = {line.split()[0]: line.split()[1:] for line in lines[3:]}
    assert table["confusion"][:3] == ["2", "100.0%", "100.0%"]
    assert table["preposition"][0] == "1"
    assert any(line.startswith("false flags per 1,000 clean words: 0.00") for line in lines)
    assert [line.split()[0] for line in lines[-2:]] == ["1", "4"]


def test_json_and_a_plot(tmp_path):
    pytest.importorskip("matplotlib")
    fixes, clean = fixes_and_clean(tmp_path)
    plot = tmp_path / "rates.svg"
    arguments = ("spelling", "--fixes", fixes, "--clean", clean, "--tier", 2, "--json", "--plot", plot)
    status, out, _ = run(*arguments)
    assert status == 0
    output = json.loads(out)
    assert (output["all"]["n"], output["tier"], list(output["rates"])) == (4, 2, ["spelling"])
    assert [point["rate"] for point in output["curve"]] == [0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0]
    assert output["clean"]["words"] == 14
    assert "mistakes rightly corrected" in plot.read_text(encoding="utf8")


def test_rates_that_are_shared_or_one_a_task(tmp_path):
    fixes, _ = fixes_and_clean(tmp_path)

    def rates(*options):
        output = run("preposition+spelling", "--fixes", fixes, "--json", *options)[1]
        return json.loads(output)["rates"]

    default_rates = rates()
    assert sum(rates("--flags-per-1000", 1.5).values()) == pytest.approx(1.5)
    assert rates("--flags-per-1000", "spelling=0") == default_rates | {"spelling": 0.0}
    lines = run("spelling", "--fixes", fixes, "--flags-per-1000", 0)[1].splitlines()
    assert lines[1].endswith("set to flags per 1,000 words: spelling 0")
    assert lines[3].split()[:3] == ["all", "3", "0.0%"]


def test_two_checkers(tmp_path):
    fixes, clean = fixes_and_clean(tmp_path)
    status, out, _ = run("preposition", "preposition+spelling", "--fixes", fixes, "--clean", clean)
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "rightly corrected (more is better) of 3 examples:"
    assert any("bootstrap over 2 projects" in line for line in lines)
    assert [line.split()[0] for line in lines if "disambig_en/spelling" in line] == ["B", "B"]


def test_files_without_clean_text_or_with_one_project(tmp_path):
    fixes, _ = fixes_and_clean(tmp_path)
    rows = Path(fixes).read_text(encoding="utf8").splitlines()
    Path(fixes).write_text(rows[0], encoding="utf8")
    status, out, _ = run("spelling", "--fixes", fixes)
    assert status == 0
    assert "read 1 mistake of 1 project\n" in out and " to " not in out.split("set to", 1)[1]


def test_flags_that_were_read(tmp_path):
    fixes, _ = fixes_and_clean(tmp_path)
    clean, readings = readings_of_flags(tmp_path)
    arguments = ("spelling", "--fixes", fixes, "--clean", clean, "--readings", readings, "--rate", 4)
    status, out, _ = run(*arguments, "--json")
    at = json.loads(out)["clean"]
    counts = {name: line["flags"] for name, line in at["readings"].items()}
    assert (status, at["n_readings"], at["flags"], at["readings"]["mistake"]["right"]) == (0, 2, 2, 1)
    assert counts == {"mistake": 1, "taste": 1, "wrong": 0, "unread": 0, "wrong_or_unread": 0}
    lines = run(*arguments)[1].splitlines()
    assert "2 of 2 flags in clean text were read; per 1,000 words:" in lines
    assert lines[-2].endswith("plainly wrong") and lines[-1].endswith("0.00")
    Path(readings).write_text(Path(readings).read_text("utf8").splitlines()[1], "utf8")
    lines = run(*arguments)[1].splitlines()
    assert "1 of 2 flags in clean text were read; per 1,000 words:" in lines
    assert lines[-1].endswith("0.00, at most 76.92")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("tag --fixes F", "D644"),
        ("spelling+spelling --fixes F", "D333"),
        ("nothing --fixes F", "D404"),
        ("--fixes none.jsonl", "D300"),
        ("--fixes C", "D345"),
        ("--fixes F --rate -1", "--rate"),
        ("--fixes F --labelled x.tsv", "--labelled cannot be used with --fixes; it is for two models"),
        ("spelling --labelled x.tsv --rate 1", "--rate cannot be used with --labelled (one model)"),
        ("spelling --text F --strict", "--strict cannot be used with --text (one model); it is for two"),
        ("spelling --text F --tier 1", "--tier cannot be used with --text (one model); it is for --fixes"),
        ("spelling spelling --text F --plot x.svg", "--plot cannot be used with two models"),
        ("spelling --lists F --key K", "--key cannot be used with --lists; it is for --labelled"),
        ("a b c --fixes F", "one or two models"),
        ("a b --fixes F --rate 1", "one or two models"),
        ("spelling --fixes F --flags-per-1000 article=1", "D950"),
        ("spelling --fixes F --flags-per-1000 many", "D951"),
        ("spelling --text F --flags-per-1000 1", "--flags-per-1000 cannot be used with --text (one model)"),
        ("spelling --clean C", "--clean cannot be used with --text (one model)"),
        ("spelling --readings R", "--readings cannot be used with --text"),
        ("--fixes F --readings R", "--readings requires --clean"),
        ("--fixes F --clean C --readings C", "D345"),
        ("", "MODEL is required"),
    ],
)
def test_invalid_arguments_are_refused(tmp_path, arguments, problem):
    fixes, clean = fixes_and_clean(tmp_path)
    status, _, err = run(*({"F": fixes, "C": clean}.get(item, item) for item in arguments.split()))
    assert status == 2
    assert problem in " ".join(err.replace("│", " ").split())


def one_each(edits, text):
    """Return the edits that remain if several overlap, as `Trial.at` selects them."""
    places = np.array([(edit.start, edit.end) for edit in edits], np.int64).reshape(-1, 2).T
    slots = edit_slots(*places, np.array([edit.new == "" for edit in edits], bool))
    slots = extend_to_next_word(slots, np.zeros(len(edits), np.int64), places[1], [text])
    sure, tasks = np.array([edit.sure for edit in edits]), task_ranks([edit.task for edit in edits])
    stand = np.unique(surviving_edits(np.zeros(len(edits), np.int64), slots, sure, tasks))
    return [edits[i] for i in stand.tolist()]


@pytest.mark.data
@pytest.mark.slow
def test_real_mistakes():
    """At the models' own rates, the flags are those without any setting."""
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    folder = Path(data) / "labelled" / "fixes"
    mistakes = read_fixes(folder / "dev.jsonl.xz", tier=1)[:300]
    texts = [item.before for item in mistakes] + [
        item.text for item in read_clean(folder / "clean.dev.jsonl.xz")[:300]
    ]
    checker = ModelChecker.from_names()
    limits = checker.limits()
    above = [
        one_each([e for e in edits if e.sure > limits[e.task]], text)
        for text, edits in zip(texts, checker.edits(texts), strict=True)
    ]
    annotated = decisions_to_edits(annotate(texts, checker.models), texts)
    for text, edits, shown in zip(texts, above, annotated, strict=True):
        assert [edit for edit in shown if edit in edits] == edits
        # annotate also flags a mistake whose neighbour is corrected: "setup a api"
        for restored in (edit for edit in shown if edit not in edits):
            gaps = [text[a.end : b.start] for edit in edits for a, b in ((edit, restored), (restored, edit))]
            assert any(gap.isspace() for gap in gaps), (text, restored)
    from disambig.checking import sweep_rates
    from disambig.evaluation import MistakeTrial, mistake_figures

    trial = MistakeTrial.from_checker(checker, mistakes)
    result = mistake_figures(trial, limits)
    assert result["classes"]["confusion"]["right"] > 0.5
    rising = [point["all"]["right"] for point in sweep_rates(checker, trial)]
    assert np.all(np.diff(rising) >= 0) and rising[0] > 0
    assert fixes_lines({"model": "", "rates": {}, "curve": [], **result})[0].startswith("read 300 mistakes")


@pytest.mark.data
def test_the_readings_that_ship():
    """Each reading belongs to a paragraph of the data, and most flags at the models' own rates have one."""
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    folder = Path(data) / "labelled" / "fixes"
    readings = read_flag_readings(Path(__file__).parents[2] / "corpora" / "disambig_en" / "readings.jsonl")
    clean = [p for part in ("dev", "test") for p in read_clean(folder / f"clean.{part}.jsonl.xz")]
    texts = {paragraph_digest(paragraph.text): paragraph.text for paragraph in clean}
    assert len(readings) >= 700 and {read.paragraph for read in readings} <= set(texts)
    assert len({(read.paragraph, read.start, read.end, read.new) for read in readings}) == len(readings)
    for read in readings:
        old = texts[read.paragraph][read.start : read.end]
        assert len(old) == read.end - read.start and old.split() != read.new.split()
    from disambig.evaluation import MistakeTrial, mistake_figures

    digests = {read.paragraph for read in readings}
    some = [paragraph for paragraph in clean if paragraph_digest(paragraph.text) in digests][:80]
    checker = ModelChecker.from_names()
    trial = MistakeTrial.from_checker(checker, [], some, readings)
    figures = mistake_figures(trial, checker.limits())["clean"]
    assert figures["flags"] > 10 and figures["readings"]["unread"]["flags"] < 0.2 * figures["flags"]


TEXT = "We like a quite street, and the room is quiet at night. He wants a peace of cake.\n"
WRONG = ["quite", "peace"]
"""Flagged if a learner wrote it, and not by default."""


UNKNOWN = "[D953] unknown kind of writing 'lerner'; available: learner, "


@pytest.fixture(scope="module")
def model(small_table, tmp_path_factory):
    """A directory with a model with a second look, and one of the same task without."""
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
    assert with_writing((loaded,), "draft")[0].mistakes_per_1000 == 10.0
    assert with_writing([loaded], None) == (loaded,) and loaded.mistakes_per_1000 == 5.0
    with pytest.raises(UserError, match="D953"):
        annotate([TEXT], [loaded], writing="lerner")


@fewer_examples
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


def test_writing_without_a_model_is_reported(model):
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
    done = here(*common, "--writing", "learner", folder=home)
    assert done.returncode == 1 and done.stdout.count("notes.txt:1:") == 2 and "D954" not in done.stderr
    (home / "disambig.toml").write_text('writing = "published"\n[overrides."*.txt"]\nwriting = "learner"\n')
    assert here(*common, folder=home).stdout == done.stdout
    assert here(*common, "--writing", "edited", folder=home).returncode == 0
    shown = here("check", "--show-settings", "notes.txt", folder=home).stdout
    assert 'writing = "learner"  # disambig.toml' in shown
    (home / "disambig.toml").write_text('writing = "lerner"\n')
    refused = here(*common, folder=home)
    assert refused.returncode == 2 and "[D971]" in refused.stderr and UNKNOWN[7:] in refused.stderr


@pytest.mark.parametrize(
    "command", ["check notes.txt", "annotate notes.txt", "evaluate --fixes fixes.jsonl", "serve", "lsp"]
)
def test_every_command_refuses_an_unknown_kind(home, command):
    done = here(*command.split(), "--writing", "lerner", folder=home)
    assert done.returncode == 2 and UNKNOWN in done.stderr and not done.stdout
    assert "--writing" in here(command.split()[0], "--help").stdout


def test_annotate_accepts_it_with_and_without_workers(model, home):
    common = ("annotate", "notes.txt", "--model", model, "--format", "jsonl", "--quiet")
    kinds = {kind: here(*common, "--writing", kind, folder=home) for kind in ("learner", "edited")}
    result = {
        kind: [item["observed"] for item in json.loads(done.stdout)["decisions"] if item["flagged"]]
        for kind, done in kinds.items()
    }
    assert result == {"learner": WRONG, "edited": []}
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
    figures = json.loads(here(*common, "--json", "--writing", "learner", folder=home).stdout)
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
        assert sum(item["flagged"] for item in decided().json()["decisions"]) == 2
        assert sum(item["flagged"] for item in decided(writing="draft").json()["decisions"]) == 0
        assert decided(writing=3).status_code == 400
        assert "disambig-note" not in decided(writing="draft").headers


def test_a_server_reports_unused_writing(model, home):
    log = []
    with running("--model", once(model), "--writing", "draft", folder=home, log=log) as (port, _):
        answer = httpx.post(f"http://127.0.0.1:{port}/annotate", json={"text": TEXT, "writing": "learner"})
        assert answer.status_code == 200 and answer.headers["disambig-note"].startswith("[D954] ")
        plain = httpx.post(f"http://127.0.0.1:{port}/annotate", json={"text": TEXT})
        assert "disambig-note" not in plain.headers
    assert sum("[D954]" in line for line in log) == 1


@pytest.mark.parametrize(
    ("options", "writing", "n"),
    [((), "learner", [0, 2]), (("--writing", "learner"), "edited", [2, 0])],
    ids=["default", "option"],
)
def test_an_editor_accepts_an_option_and_its_own_settings(model, home, options, writing, n):
    models = {"models": [os.path.relpath(model, home)]}
    with Wire.started(home, *options) as wire:
        wire.initialize(models, root=home)
        wire.open(TEXT, uri=(home / "notes.md").as_uri())
        flags = [len(wire.diagnostics(1)["diagnostics"])]
        change = "workspace/didChangeConfiguration"
        wire.send(change, {"settings": {**models, "writing": writing}})
        flags.append(len(wire.diagnostics(1)["diagnostics"]))
        assert flags == n
        if not options:  # wrong settings are shown
            wire.send(change, {"settings": {"models": [once(model)], "writing": "draft"}})
            assert "[D954]" in wire.next_params()["message"]
            wire.send(change, {"settings": {"writing": "lerner"}})
            assert (
                "[D971] settings of the editor: writing is 'lerner': unknown" in wire.next_params()["message"]
            )
        assert wire.end() == 0


@pytest.mark.parametrize("factory", ["disambig", "disambig_spelling", "disambig_proofread"])
def test_a_component_accepts_it(model, factory):
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
