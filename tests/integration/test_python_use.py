"""`disambig.check`, `disambig.correct`, commands in notebooks, and components in pipelines of people."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
import spacy
from commands import here
from spacy.cli import app as spacy_commands
from spacy.tokens import DocBin, Span
from tiny_models import save_second_look, save_tiny_models
from typer.testing import CliRunner

import disambig
import disambig.spacy
from disambig.errors import UserError
from disambig.models import annotate, load
from disambig.rules import CATALOGUE

TEXT = """It depends of the weather, and its hard to find a quite place.

She have an cat; I went to the the shop. They should of come, then they would of seen it.
"""
GERMAN = "Das ist ein deutscher Absatz, der nicht auf Englisch geschrieben ist und nicht gelesen wird."


@pytest.fixture
def model(small_table, tmp_path):
    return save_second_look(tmp_path, small_table)


def test_flags_and_corrections_are_those_of_the_command(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    done = json.loads(here("check", "a.txt", "--format", "json", folder=tmp_path).stdout)
    flags = disambig.check(TEXT)
    assert len(flags) >= 5
    assert [(flag.start, flag.end, flag.task, round(flag.probability, 4)) for flag in flags] == [
        (item["start"], item["end"], item["task"], round(item["probability"], 4)) for item in done["flags"]
    ]
    assert disambig.correct(TEXT) == here("check", "-", "--fix", given=TEXT, folder=tmp_path).stdout
    assert disambig.correct(disambig.correct(TEXT)) == disambig.correct(TEXT)


def test_corrections_that_are_mostly_wrong_are_left_with_the_reason(tmp_path):
    text = "He gave to me to a book, and it depends of the weather.\n"
    sure, unsure = (
        [flag for flag in disambig.check(text) if (flag.trust.share < 0.5) == low] for low in (0, 1)
    )
    assert len(sure) == 1 and len(unsure) == 1
    fixed = here("check", "-", "--fix", given=text, folder=tmp_path)
    assert fixed.stdout == disambig.correct(text) == text.replace("depends of", "depends on")
    assert "right), left: most such corrections are wrong\n" in fixed.stderr
    shown = here("check", "-", "--diff", given=text, folder=tmp_path)
    assert ": 1 flag not in the diff: 1:9 to (most such corrections are wrong)" in shown.stderr
    for options, arguments in (
        (("--writing", "learner"), {"writing": "learner"}),
        (("--trust", "0.01"), None),
    ):
        fixed = here("check", "-", "--fix", *options, given=text, folder=tmp_path)
        assert "left" not in fixed.stderr and "gave to me to" not in fixed.stdout, options
        if arguments is not None:
            assert disambig.correct(text, **arguments) == fixed.stdout


def test_records_of_flags_are_short():
    flags = disambig.check("It depends of the weather.")
    assert repr(flags[0]).startswith("<Flag 1:12 'of' -> 'on', wrong-preposition, ")
    assert len(repr(flags)) < 80
    (decisions,) = disambig.api.annotate([TEXT], [disambig.api.load_model("preposition")])
    shown = repr(decisions)
    assert shown.startswith("<Decisions 'preposition' of disambig_en/preposition ") and "\n" not in shown
    assert shown.endswith(f": {len(decisions)} decisions, {decisions.flagged.sum()} flags>")
    assert repr(decisions.slice(0, 0)).endswith(": 0 decisions, 0 flags>")


def test_every_argument_has_its_effect(model):
    text = "We like a quite street. He wants a peace of cake."
    assert disambig.check(text, models=model) == []
    flags = disambig.check(text, models=[model], writing="learner")
    assert [flag.observed for flag in flags] == ["quite", "peace"]
    fixed = disambig.correct(text, models=[Path(model)], writing="learner", ignore=["Peace"])
    assert fixed == "We like a quiet street. He wants a peace of cake."
    with pytest.raises(ValueError, match=r"patterns are not supported"):
        disambig.check(text, models=model, ignore=["pea*"])
    assert disambig.check(text, models=model, writing="learner", flags_per_1000={"spelling": 0}) == []
    assert disambig.check(text, models=model, writing="learner", flags_per_1000=0) == []
    with pytest.warns(UserWarning, match="D348"):
        assert disambig.check(GERMAN, models=model) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        disambig.check(GERMAN, models=model, detect_language=False)


def test_a_model_that_is_saved_again_is_loaded_again(model):
    text = "We like a quite street. He wants a peace of cake."
    assert disambig.check(text, models=model, writing="learner") != []
    shutil.rmtree(model)
    shutil.copytree(Path(model).with_name("preposition"), model)
    with pytest.warns(UserWarning, match="D954"):
        disambig.check(text, models=model, writing="learner")


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"writing": "lerner"}, "D953"),
        ({"models": "prepositoin"}, "D404"),
        ({"flags_per_1000": -1}, "D401"),
        ({"flags_per_1000": {"spelling": 1}, "models": "preposition"}, "D950"),
        ({"models": "it"}, "D644"),
        ({"rules": ["agreemant"]}, "D519"),
        ({"ignore_rules": "agreemant"}, "D519"),
    ],
)
def test_errors_have_codes(settings, code):
    for call in (disambig.check, disambig.correct):
        with pytest.raises(UserError, match=code):
            call("It depends of the weather.", **settings)
    with pytest.raises(TypeError, match="text must be a str, not bytes"):
        disambig.check(b"It depends")


@pytest.mark.parametrize(
    ("texts", "models", "problem"),
    [
        ("It depends of it.", "loaded", r"not a str: pass \[text\]"),
        ([b"It depends"], "loaded", "not of bytes"),
        (["It depends of it."], "alone", r"not a Model: pass \[model\]"),
        (["It depends of it."], "preposition", r"pass load_model\('preposition'\)"),
        (["It depends of it."], ["preposition"], r"pass load_model\('preposition'\)"),
    ],
)
def test_annotate_names_an_argument_of_another_type(texts, models, problem):
    loaded = load("preposition")
    models = {"loaded": [loaded], "alone": loaded}.get(str(models), models)
    with pytest.raises(TypeError, match=problem):
        annotate(texts, models)
    with pytest.raises(TypeError, match="expected a TokenView"):
        loaded.decide(texts)


def test_annotate_takes_any_iterable():
    texts = ["It depends of it.", "It depends on it."]
    (listed,), (iterated,) = (annotate(of, [load("preposition")]) for of in (texts, iter(texts)))
    assert [listed.record(0, texts[0])] == [iterated.record(0, texts[0])]


def test_the_name_says_which_markup_the_text_has(tmp_path):
    text = "Use the `the` option. It depends of it.\n\n    It depends of it.\n"
    for name in ("notes.md", tmp_path / "notes.md"):
        assert [flag.line for flag in disambig.check(text, name=name)] == [1]
        assert disambig.correct(text, name=name) == text.replace("of", "on", 1)


def test_rules_select_flags():
    text = "It depends of the weather. They was late."
    assert [flag.rule for flag in disambig.check(text)] == ["wrong-preposition", "agreement"]
    assert [flag.rule for flag in disambig.check(text, rules=["agreement"])] == ["agreement"]
    assert [flag.rule for flag in disambig.check(text, ignore_rules="agreement")] == ["wrong-preposition"]
    assert disambig.correct(text, rules="agreement") == "It depends of the weather. They were late."


def test_a_selected_task_shows_flags_that_a_more_certain_task_raises_too():
    text = "It depends of the weather."
    (flag,) = disambig.check(text)
    (other,) = flag.alternatives
    assert (flag.task, other["task"], other["replacement"]) == ("slip", "preposition", "on")
    for task in (flag.task, other["task"]):
        assert [shown.replacement for shown in disambig.check(text, rules=task)] == ["on"]
        assert [shown.replacement for shown in disambig.check(text, ignore_rules=task)] == ["on"]
    assert disambig.check(text, ignore_rules=[flag.task, other["task"]]) == []


def test_the_name_of_a_file_is_a_text_with_a_warning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("It depends of it.")
    for function in (disambig.check, disambig.correct):
        with pytest.warns(UserWarning, match=r"D352\] 'notes.md' is treated as text.*Path\('notes.md'\)"):
            function("notes.md")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        disambig.check("other.md")


def test_texts_without_words_and_invalid_comments():
    assert disambig.check("") == [] and disambig.correct("\n\n") == "\n\n"
    with pytest.warns(UserWarning, match="D641"):
        disambig.check("It rains. <!-- disambig: ignor this -->")


def test_nothing_is_imported_before_the_first_use():
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "import disambig\n"
        "print([name for name in sys.modules if name not in before and name != 'disambig'])\n"
        "print({'check', 'correct', '__version__'} <= set(dir(disambig)), hasattr(disambig, 'chek'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["[]", "True False"], done.stderr


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.name)
def test_the_models_flag_the_examples_of_each_rule(rule):
    for wrong, _ in rule.examples:
        assert rule.name in [flag.rule for flag in disambig.check(wrong)], wrong


TEXTS = [
    "We like a quite street, and the room is quiet at night.",
    "",
    "It was a quite place in the hills.\r\n\r\nThey maybe late.  He wants a peace of cake.",
    "Nothing to see.",
]
OWN = ["lamp/damp", "quiet/silent"]


@pytest.fixture(scope="session")
def tiny(small_table, tmp_path_factory):
    return save_tiny_models(tmp_path_factory.mktemp("tiny"), small_table)


@pytest.fixture
def nlp(tiny):
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_preposition", config={"model": tiny["preposition"]})
    nlp.add_pipe("disambig_spelling", config={"model": tiny["spelling"], "sets": OWN})
    return nlp


def shown(doc):
    return [
        (key, span.text, span.label_, span.id_, span._.disambig)
        for key in doc.spans
        for span in doc.spans[key]
    ]


def run(*command, **settings):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def spacys(*command):
    """Run a command of spaCy's here."""
    done = CliRunner().invoke(spacy_commands, [*map(str, command)], catch_exceptions=False)
    assert done.exit_code == 0, done.output


def test_components_decide_as_annotate_does(nlp, tiny):
    docs = list(nlp.pipe(TEXTS))
    for task in ("preposition", "spelling"):
        model = nlp.get_pipe(f"disambig_{task}").model
        (decisions,) = annotate(TEXTS, [model])
        for number, doc in enumerate(docs):
            expected, kept = decisions.in_document(number), disambig.spacy.read_decisions(doc, task)
            assert [kept.record(i, doc.text) for i in range(len(kept))] == [
                expected.record(i, doc.text) for i in range(len(expected))
            ]


PROCESSES = """
import json, multiprocessing, sys
import spacy
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    nlp = spacy.load(sys.argv[2])
    texts = json.loads(sys.argv[3])
    for doc in nlp.pipe(texts, n_process=2, batch_size=1):
        spans = [(key, span) for key in doc.spans for span in doc.spans[key]]
        print([(key, s.text, s.label_, s.id_, s._.disambig["probability"]) for key, s in spans])
"""


# to fork is what `test_the_pack_in_two_processes` does
@pytest.mark.parametrize("method", [pytest.param("spawn", marks=pytest.mark.slow), "forkserver"])
def test_processes(nlp, method, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    script = tmp_path / "script.py"
    script.write_text(PROCESSES)
    lines = run(script, method, tmp_path / "saved", json.dumps(TEXTS)).splitlines()
    assert lines == [
        str(
            [
                (key, text, label, id_, record["probability"])
                for key, text, label, id_, record in shown(nlp(text))
            ]
        )
        for text in TEXTS
    ]


def test_a_pipeline_saved_here_is_loaded_elsewhere(nlp, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    code = f"import spacy; nlp = spacy.load({str(tmp_path / 'saved')!r}); doc = nlp({TEXTS[0]!r}); "
    code += "print([(s.text, s.label_, s._.disambig['margin']) for s in doc.spans['spelling']])"
    here = [(s.text, s.label_, s._.disambig["margin"]) for s in nlp(TEXTS[0]).spans["spelling"]]
    assert run("-c", code) == f"{here}\n"


def test_assembled_from_a_config(nlp, tmp_path):
    nlp.config.to_disk(tmp_path / "config.cfg")
    spacys("assemble", tmp_path / "config.cfg", tmp_path / "out")
    assert shown(spacy.load(tmp_path / "out")(TEXTS[2])) == shown(nlp(TEXTS[2]))


def test_evaluated_with_a_spans_key(nlp, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    gold = nlp.make_doc("We like a quite street. They may be late.")
    right = [(3, 4, "quiet"), (7, 9, "may be")]
    gold.spans["spelling"] = [Span(gold, i, j, label=label) for i, j, label in right]
    DocBin(docs=[gold]).to_disk(tmp_path / "gold.spacy")
    output = tmp_path / "scores.json"
    spacys(
        *("evaluate", tmp_path / "saved", tmp_path / "gold.spacy"),
        *("--spans-key", "spelling", "--output", output),
    )
    scores = json.loads(output.read_text())
    assert scores["spans_spelling_r"] == 1.0
    assert scores["spans_spelling_per_type"]["may be"]["f"] == 1.0


def test_packaged(nlp, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    (tmp_path / "dist").mkdir()
    run(
        *("-m", "spacy", "package", tmp_path / "saved", tmp_path / "dist"),
        *("--name", "checked", "--version", "0.0.1", "--build", "none"),
    )
    home = tmp_path / "dist" / "en_checked-0.0.1"
    shutil.copy(home / "meta.json", home / "en_checked")  # as its setup.py does
    code = f"import sys; sys.path.insert(0, {str(home)!r}); import en_checked; "
    code += f"print(en_checked.load()({TEXTS[0]!r}).spans['spelling'][0].label_)"
    assert f"disambig>={disambig.__version__}" in str(
        json.loads((home / "meta.json").read_text())["requirements"]
    )
    assert run("-c", code).strip() == nlp(TEXTS[0]).spans["spelling"][0].label_


def test_other_components_do_not_mind(nlp):
    nlp.add_pipe("sentencizer", first=True)
    ruler = nlp.add_pipe("span_ruler", config={"spans_key": "mine"})
    ruler.add_patterns([{"label": "PLACE", "pattern": "place"}])
    doc = nlp(TEXTS[2])
    assert [span.label_ for span in doc.spans["mine"]] == ["PLACE"]
    assert shown(nlp.from_bytes(nlp.to_bytes())(TEXTS[2])) == shown(doc)


@pytest.fixture(scope="module")
def packed():
    """A pipeline with the models of the installed pack."""
    from disambig.packs import available

    if not {"preposition", "spelling"} <= set(available()):
        pytest.skip("no pack is installed")
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_preposition")
    nlp.add_pipe("disambig_spelling")
    return nlp


def test_the_pack_decides(packed):
    doc = packed("I worked in Russia during 1997 to 2001, and it was hard to find a quite place.")
    assert "quiet" in [span.label_ for span in doc.spans["spelling"] if span._.disambig["flagged"]]
    assert {"in", "during"} <= {span.text for span in doc.spans["preposition"]}
    assert packed.get_pipe("disambig_spelling").model is load("spelling")


def test_the_pack_in_a_saved_pipeline(packed, tmp_path):
    packed.to_disk(tmp_path / "saved")
    text = "She was quite sure that the weather would be fine."
    assert shown(spacy.load(tmp_path / "saved")(text)) == shown(packed(text))
    assert sum(path.stat().st_size for path in (tmp_path / "saved").glob("disambig_*/*")) < 10_000


def test_the_pack_in_two_processes(packed):
    texts = TEXTS * 4
    one, two = ([shown(doc) for doc in packed.pipe(texts, n_process=n, batch_size=4)] for n in (1, 2))
    assert one == two


@pytest.mark.parametrize(
    "command",
    [
        ("annotate", "a.txt"),
        ("annotate", "a.txt", "--format", "corrected"),
        ("check", "a.txt"),
        ("check", "a.txt", "--format", "json"),
        ("check", "--fix", "-"),
        ("explain", "a.txt"),
        ("rules",),
        ("plugins",),
        ("schema",),
        ("data", "list"),
        ("counts", "query", "disambig_en", "depends", "on"),
        ("job", "merge", "job"),
        ("--version",),
        ("check", "--help"),
    ],
    ids=" ".join,
)
def test_standard_output_may_take_only_text(tmp_path, command):
    (tmp_path / "a.txt").write_text("It depends of the caf\u00e9.\n", encoding="utf8")
    if command[0] == "job":
        assert here("annotate", "a.txt", "--output", "job", folder=tmp_path).returncode == 0
    given = "It depends of the caf\u00e9.\n"
    expected = here(*command, folder=tmp_path, given=given)
    text = io.StringIO()  # as in a notebook, it has no buffer
    done = here(*command, folder=tmp_path, given=given, stdout=text)
    assert (done.returncode, text.getvalue()) == (expected.returncode, expected.stdout)
    assert text.getvalue()


def test_bytes_for_a_text_output(tmp_path):
    (tmp_path / "a.txt").write_text("It depends of the weather.\n")
    text = io.StringIO()
    assert (
        here("check", "--fix", "-", given="It depends of it.\n".encode("utf-16"), stdout=text).returncode < 2
    )
    assert text.getvalue().lstrip("\ufeff") == "It depends on it.\n"
    done = here("annotate", "a.txt", "--format", "spacy", folder=tmp_path, stdout=io.StringIO())
    assert done.returncode == 2 and "[D603]" in done.stderr
