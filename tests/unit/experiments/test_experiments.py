"""Experiments: learning curves, cache, parts on workers, reports and plots."""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import here
from matplotlib.figure import Figure

from disambig.cli.commands.reproduce import experiments
from disambig.counts import build_table
from disambig.data import Group
from disambig.errors import UserError
from disambig.experiments import (
    VARIABLE,
    Claim,
    Draw,
    Experiment,
    ExperimentResult,
    LearningSystem,
    PackFigures,
    Panel,
    ResultRow,
    as_json,
    cache_directory,
    cached,
    check_experiment,
    check_result,
    count_hits,
    fill,
    from_json,
    has_plot,
    join_blocks,
    learn_all,
    log_progress,
    main,
    markdown,
    plot_result,
    result_lines,
    table,
    text_lines,
    with_left_out,
)
from disambig.features import NgramCounts, transform_checked
from disambig.jobs import HasParts, SavedParts, make_runner, run_parts, run_parts_on_workers
from disambig.models import LinearScorer
from disambig.registry import load_all
from disambig.tasks import OwnCandidates
from disambig.testing import blocks
from disambig.text import Words, view_of_texts
from disambig.types import Fitted


@dataclass(frozen=True)
class RecordingLearner:
    """A learner that records its arguments, and scores by the first attribute."""

    seen: list
    C: float | None = None

    def fit(self, batch, *, dev=None, rng=None):
        self.seen.append((len(batch.values), self.C, batch.values.copy()))
        return Fitted(LinearScorer(np.ones(len(batch.columns))), {"C": self.C or 1.0 / len(batch.values)})


def ignore_progress(*reported):
    """Ignore the progress."""


def test_systems_learn_from_the_same_nested_samples():
    pool, dev, test = blocks(50, seed=1), blocks(10, seed=2), blocks(20, seed=3)
    actual: dict[str, list] = {"a": [], "b": []}
    systems = [
        LearningSystem(name, lambda size, name=name: RecordingLearner(actual[name])) for name in actual
    ]
    messages = []
    outcomes = learn_all(
        systems,
        lambda number: Draw(pool, np.random.default_rng(number).permutation(50), dev, test),
        draws={5: 3, 20: 1, 80: 1},
        progress=lambda *message: messages.append(message),
    )
    assert [n for n, _, _ in actual["a"]] == [5, 20, 5, 5]
    assert all(np.array_equal(a[2], b[2]) for a, b in zip(actual["a"], actual["b"], strict=True))
    assert np.array_equal(actual["a"][0][2], actual["a"][1][2][:5])
    assert len(outcomes["a", 5].hits) == 3
    assert outcomes["a", 5].spread() == pytest.approx(0.0, abs=1e-9)
    assert outcomes["a", 20].spread() is None
    assert outcomes["a", 80].accuracy() is None
    expected = count_hits(test.scores(np.ones(len(test.columns))), test)
    assert outcomes["b", 20].accuracy() == pytest.approx(100 * expected.mean())
    assert messages[0] == ("learning", 0, 10)


def test_sizes_beyond_a_draw_are_left_out_and_the_last_c_is_kept_beyond_a_size():
    calls, pool = [], blocks(50, seed=1)
    outcomes = learn_all(
        [LearningSystem("a", lambda size: RecordingLearner(calls), tuned_up_to=10)],
        lambda number: Draw(pool, np.arange(50 - number), pool, pool),
        draws={5: 1, 10: 1, 20: 1, 50: 2},
        progress=ignore_progress,
    )
    assert [len(outcomes["a", size].hits) for size in (5, 50)] == [1, 1]
    assert [(n, C) for n, C, _ in calls] == [(5, None), (10, None), (20, 0.1), (50, 0.1)]


def test_joins_batches_in_order():
    one, two = blocks(5, seed=1), blocks(7, seed=2)
    both = join_blocks([one, two])
    assert (both.values == np.concatenate([one.values, two.values])).all() and both.costs.shape == (12, 3)


def test_text_lines_include_blank_lines(tmp_path):
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.xz"
    text = "one\u2028still one\r\n\ntwo\n".encode()
    plain.write_bytes(text)
    packed.write_bytes(lzma.compress(text))
    assert list(text_lines(plain)) == list(text_lines(packed)) == ["one\u2028still one", "", "two"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (lzma.compress(b"a line of text\n" * 50)[:-20], "D308"),
        (b"\xfd7zXZ\x00", "D308"),
        (b"text", "D308"),
        (lzma.compress(b"caf\xe9\n"), "D304"),
        (lzma.compress(b"a\0b\n"), "D303"),
        (None, "D300"),
    ],
)
def test_names_unreadable_texts(tmp_path, content, code):
    path = tmp_path / "a.txt.xz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        list(text_lines(path))
    assert caught.value.code == code and str(path) in str(caught.value)
    (tmp_path / "b.txt").mkdir()
    with pytest.raises(UserError, match=r"D308.*b\.txt"):
        list(text_lines(tmp_path / "b.txt"))


def test_caches_files_by_their_sources(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    source = tmp_path / "text"
    source.write_text("one", encoding="utf8")
    built = []

    def make(path):
        built.append(path)
        path.write_text("made", encoding="utf8")

    first = cached("table", ".counts", sources=[source], details={"a": 1}, make=make)
    assert first.read_text(encoding="utf8") == "made"
    assert cached("table", ".counts", sources=[source], details={"a": 1}, make=make) == first
    assert len(built) == 1
    assert cached("table", ".counts", sources=[source], details={"a": 2}, make=make) != first
    source.write_text("other", encoding="utf8")
    assert cached("table", ".counts", sources=[source], details={"a": 1}, make=make) != first
    assert sorted(path.suffix for path in cache_directory().iterdir()) == [".counts"] * 3


def test_failed_cache_entries_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))

    def interrupted(path):
        path.write_text("half", encoding="utf8")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cached("table", ".x", sources=[], details={}, make=interrupted)
    assert list((tmp_path / "cache").iterdir()) == []
    (tmp_path / "file").write_text("", encoding="utf8")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    with pytest.raises(UserError, match="D722"):
        cached("table", ".x", sources=[], details={}, make=interrupted)


def test_cache_needs_a_home_directory_or_the_variable(monkeypatch, tmp_path):
    for name in ("HOME", "XDG_CACHE_HOME", VARIABLE):
        monkeypatch.delenv(name, raising=False)

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(UserError, match=r"D722.*DISAMBIG_CACHE"):
        cached("a", ".txt", sources=[], details={}, make=lambda path: path.write_text("made"))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    path = cached("a", ".txt", sources=[], details={}, make=lambda path: path.write_text("made"))
    assert path.read_text() == "made" and path.is_relative_to(tmp_path)


PARAGRAPHS = [
    "a piece of cake and a piece of cake for a lasting peace .",
    "they want peace and a piece of land .",
    "a piece of cake for all .",
    "we ask for peace in our time , a piece of cake .",
]


@pytest.mark.parametrize("left_out", [0, 3])
def test_left_out_counts_equal_those_of_the_other_paragraphs(tmp_path, left_out):
    task = OwnCandidates(candidates=["peace", "piece"])
    everything = build_table(tmp_path / "all.counts", PARAGRAPHS, Words(), keep_words=["peace", "piece"])
    others = [text for number, text in enumerate(PARAGRAPHS) if number != left_out]
    rest = build_table(tmp_path / "rest.counts", others, Words(), keep_words=["peace", "piece"])
    group: Group = task.groups[0]
    view = view_of_texts(PARAGRAPHS, Words())
    instances = task.instances(view)
    result = with_left_out(NgramCounts(counts=everything), view, instances, group)
    expected = transform_checked(NgramCounts(counts=rest), view, instances, group).batch
    in_paragraph = view.document_indices(instances.positions) == left_out
    assert in_paragraph.any()
    np.testing.assert_allclose(result.values[in_paragraph], expected.values[in_paragraph], rtol=1e-6)
    assert np.array_equal(result.costs, expected.costs)
    full = transform_checked(NgramCounts(counts=everything), view, instances, group).batch
    assert (result.values <= full.values).all()
    assert (result.values[in_paragraph] < full.values[in_paragraph]).any()


PLUGIN = """
from dataclasses import dataclass
from disambig.api import hookimpl
from disambig.api.experiments import ExperimentResult, ResultRow, run_parts

@dataclass(frozen=True)
class Made:
    title = "made"
    description = "made"
    needs = ()

    def run(self, *, data, quick, progress):
        return run_parts(self, data=data, quick=quick, progress=progress)

    def parts(self, *, data, quick, progress):
        return ["b", "a"][: 1 if quick else None]

    def part(self, name, *, data, quick, progress):
        if (data / name).read_text() == "bad":
            raise RuntimeError("it is bad")
        return len((data / name).read_text())

    def joined(self, results, *, quick):
        return ExperimentResult([ResultRow(name, "", None, float(n), n) for name, n in results.items()])

@hookimpl
def disambig_register_experiments(register):
    register("made.parts.v1", Made)
"""


@pytest.fixture
def data(tmp_path):
    (tmp_path / "a").write_text("four")
    (tmp_path / "b").write_text("sevenly")
    return tmp_path


@pytest.fixture
def parts_experiment(data, load_with, monkeypatch):
    (data / "made_parts.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(data))
    load_with(made="made_parts")
    import made_parts

    return made_parts.Made()


def on_workers(experiment, data, *, quick=False, progress=ignore_progress, **more):
    runner = make_runner("local")
    return run_parts_on_workers(
        "made.parts.v1", experiment, runner, data=data, quick=quick, progress=progress, **more
    )


def test_parts_give_the_same_result_by_a_runner(parts_experiment, data):
    assert isinstance(parts_experiment, HasParts)
    here_done = parts_experiment.run(data=data, quick=False, progress=ignore_progress)
    reported = []
    there = on_workers(parts_experiment, data, progress=lambda *message: reported.append(message))
    assert there == here_done
    assert [(row.system, row.n) for row in there.rows] == [("b", 7), ("a", 4)]
    assert reported == [("running 2 parts", 0, 2), ("b: done", 1, 2), ("a: done", 2, 2)]
    quick = parts_experiment.run(data=data, quick=True, progress=ignore_progress)
    assert [row.system for row in quick.rows] == ["b"]


def test_names_a_part_that_fails(parts_experiment, data):
    (data / "a").write_text("bad")
    with pytest.raises(UserError, match=r"D931.*made.parts, part 'a'.*it is bad"):
        on_workers(parts_experiment, data)


@pytest.fixture
def run_saved(parts_experiment, data, tmp_path):
    """Return a function that runs the experiment, saving its parts in a directory."""

    def run(*, workers=False, quick=False, result_type=int):
        parts_experiment.__class__.part.__annotations__["return"] = result_type
        how = {"data": data, "quick": quick}
        saved = SavedParts.open(tmp_path / "saved", "made.parts.v1", parts_experiment, **how)
        run_here_or_there = on_workers if workers else run_parts
        return run_here_or_there(parts_experiment, progress=ignore_progress, saved=saved, **how)

    return run


@pytest.mark.parametrize("workers", [False, True])
def test_finished_parts_are_not_run_again(run_saved, data, tmp_path, workers):
    (data / "a").write_text("bad")
    with pytest.raises((RuntimeError, UserError), match="it is bad"):
        run_saved(workers=workers)
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == ["b.json", "experiment.json"]
    (data / "a").write_text("four")
    (data / "b").unlink()
    result = run_saved(workers=workers)
    assert [(row.system, row.n) for row in result.rows] == [("b", 7), ("a", 4)]
    (data / "a").unlink()
    assert run_saved(workers=workers) == result


def test_saved_parts_are_those_of_one_run(run_saved, parts_experiment, data, tmp_path):
    parts_experiment.__class__.needs = ("a", "b")
    run_saved()
    with pytest.raises(UserError, match=r"D932.*a full run.*--parts"):
        run_saved(quick=True)
    (data / "a").write_text("three")
    with pytest.raises(UserError, match=r"D932.*other data"):
        run_saved()
    (tmp_path / "saved" / "experiment.json").unlink()
    with pytest.raises(UserError, match=r"D932.*contains other files"):
        run_saved()


@pytest.mark.parametrize("text", ["", "{", '"many"', "[" * 100_000])
def test_a_damaged_part_is_named(run_saved, tmp_path, text):
    run_saved()
    (tmp_path / "saved" / "a.json").write_text(text)
    with pytest.raises(UserError, match=r"D933.*a\.json.*remove it"):
        run_saved()


@pytest.mark.parametrize("result_type", [np.ndarray, "Unknown"])
def test_results_that_are_not_plain_cannot_be_saved(run_saved, result_type):
    with pytest.raises(UserError, match=r"D934.*made\.parts.*omit --parts"):
        run_saved(result_type=result_type)


def test_numbers_of_numpy_and_nan_can_be_saved(tmp_path):
    saved = SavedParts(tmp_path, dict[str, Any])
    saved.save("x", {"n": np.int64(3), "by": [np.float32(0.5), float("nan")]})
    ((_, restored),) = saved.finished(["x", "y"]).items()
    assert restored["n"] == 3 and restored["by"][0] == 0.5 and np.isnan(restored["by"][1])


def test_experiments_of_papers_can_save_their_parts(tmp_path):
    """The directory is created before the data are read, so that this test needs no data."""
    for name, entry in experiments().items():
        experiment = entry.load()()
        if isinstance(experiment, HasParts):
            saved = SavedParts.open(tmp_path / name, entry.name, experiment, data=tmp_path, quick=True)
            assert saved.result_type is not Any and saved.finished(["a"]) == {}


def test_rejects_workers_for_an_experiment_without_parts(tmp_path, monkeypatch):
    name = next(name for name, part in experiments().items() if not isinstance(part.load()(), HasParts))
    needs = experiments()[name].load()().needs
    for pattern in needs:
        (tmp_path / pattern).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / pattern.replace("*", "x")).touch()
    done = here("reproduce", name, "--data", tmp_path, "--workers", "2")
    assert done.returncode == 2
    assert "D930" in done.stderr and f"{name} has no parts" in done.stderr


RESULT = ExperimentResult(
    [
        ResultRow("sum", "", 73.7, 70.649, 100),
        ResultRow("svm", "10", 16.0, 30.11, 100, 2.04),
        ResultRow("svm", "1000", 66.1, None, 0),
        ResultRow("other", "10", None, 40.0, 100),
        ResultRow("other", "1000", None, 50.0, 100),
    ],
    [Claim("a < b", True, "1 | 2"), Claim("b < a", False, "2, 1")],
    ["a note"],
    {"more": {"seconds": [1.5]}},
)


def test_json_round_trips():
    document = as_json("paper.table1", RESULT)
    assert list(document)[:3] == ["experiment", "rows", "claims"]
    first = {"system": "sum", "setting": "", "paper": 73.7, "ours": 70.65, "n": 100, "spread": None}
    assert document["rows"][0] == first
    assert document["claims"][1] == {"claim": "b < a", "holds": False, "evidence": "2, 1"}
    again = from_json(json.loads(json.dumps(document)))
    assert as_json("paper.table1", again) == document
    assert table(again.rows) == table(RESULT.rows)  # the document and the terminal round equally


def test_lines_show_the_figures_of_the_paper_and_ours():
    lines = result_lines("a title", RESULT)
    assert lines[0] == "a title"
    assert lines[2].split() == ["system", "-", "10", "1,000"]
    assert "16.0 / 30.1 ± 2.0" in lines[4]
    assert "66.1 / n/a" in lines[4]
    assert "- / 40.0" in lines[5]
    assert any("holds" in line and "a < b" in line for line in lines)
    assert any("DOES NOT" in line and "b < a" in line for line in lines)
    assert lines[-1] == "* a note"


def test_markdown_escapes_bars():
    lines = markdown(RESULT)
    assert lines[0] == "| system | - | 10 | 1,000 |"
    assert r"| a < b | yes | 1 \| 2 |" in lines
    assert "| b < a | **no** | 2, 1 |" in lines


@pytest.fixture
def results(tmp_path):
    """Return a directory with a result and its figure."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "p.t1.json").write_text(json.dumps(as_json("p.t1", RESULT)), encoding="utf8")
    (tmp_path / "results" / "p.t1.svg").write_text("<svg/>", encoding="utf8")
    return tmp_path / "results"


def test_fills_a_document_between_marks(results, tmp_path):
    before = "head\n<!-- result: p.t1 -->\nstale\n<!-- end -->\n"
    before += "middle\n<!-- result: p.t2 -->\nkept\n<!-- end -->\n"
    after = fill(before, results, seen_from=tmp_path)
    assert "stale" not in after
    assert "| sum | 73.7 / 70.7 |" in after
    assert "![learning curves](results/p.t1.svg)" in after
    assert after.startswith("head\n")
    assert "kept" in after
    assert fill(after, results, seen_from=tmp_path) == after
    (tmp_path / "doc").mkdir()
    target = tmp_path / "doc" / "a.md"
    target.write_text(before, encoding="utf8")
    assert main([str(target), str(results)]) == 0
    assert "![learning curves](../results/p.t1.svg)" in target.read_text(encoding="utf8")


def test_command_reports_errors_in_one_line(tmp_path, capsys):
    document, results = tmp_path / "a.md", tmp_path / "results"
    results.mkdir()
    assert main([str(document), str(results)]) == 2
    assert f"[D300] {document}" in capsys.readouterr().err
    for text in ("no place\n", "<!-- result: p -->\n<!-- end -->\n"):
        document.write_text(text, encoding="utf8")
        assert main([str(document), str(results)]) == 2
        assert f"[D728] {document}: no result to insert" in capsys.readouterr().err
    assert main([str(document), str(tmp_path / "none")]) == 2
    assert f"[D300] {tmp_path / 'none'}" in capsys.readouterr().err
    for arguments in ([], [str(document)], ["a", "b", "c"]):
        assert main(arguments) == 2
        expected = f"[D727] expected a document and the directory of the results, not {len(arguments)}"
        assert expected in capsys.readouterr().err
    for text in ("{", "[]", "{}", '{"rows": [{}]}'):
        (results / "p.json").write_text(text, encoding="utf8")
        assert main([str(document), str(results)]) == 2
        error = capsys.readouterr().err
        assert f"[D726] {results / 'p.json'}" in error and error.count("\n") == 1
    assert document.read_text(encoding="utf8") == "<!-- result: p -->\n<!-- end -->\n"


def test_plots_are_reproducible(tmp_path):
    assert has_plot(RESULT)
    rows = [ResultRow("svm", setting, 1.0, 1.0, 5) for setting in ("10", "north")]
    assert not has_plot(ExperimentResult(rows))
    for name in ("a.svg", "b.svg"):
        plot_result("a title", RESULT, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "training examples" in (tmp_path / "a.svg").read_text(encoding="utf8")


def test_panels_are_drawn_and_round_trip(tmp_path):
    panel = Panel("left", "size", "gain, %", {"ours": [(1, -2.125), (2, 3.0)]}, {"theirs": [(1, 0.5)]})
    panels = [panel, Panel("right", "x", "y", {"a": [(0, 0)]})]
    result = ExperimentResult([ResultRow("svm", "", None, 1.0, 5)], panels=panels)
    assert has_plot(result)
    document = json.loads(json.dumps(as_json("p.f1", result)))
    assert document["panels"][0]["lines"] == {"ours": [[1, -2.12], [2, 3.0]]}
    assert as_json("p.f1", from_json(document)) == document
    plot_result("a title", from_json(document), tmp_path / "p.f1.svg")
    drawn = (tmp_path / "p.f1.svg").read_text(encoding="utf8")
    assert all(f">{word}<" in drawn for word in ("left", "right", "gain, %", "ours", "theirs", "a title"))
    (tmp_path / "p.f1.json").write_text(json.dumps(document), encoding="utf8")
    empty = "<!-- result: p.f1 -->\n<!-- end -->\n"
    assert "![figure](p.f1.svg)" in fill(empty, tmp_path, seen_from=tmp_path)


def drawn_axes(monkeypatch, tmp_path, panels):
    """Draw a figure; return the axes of its panels, and the legends of the whole figure."""
    figures = []
    plain = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), plain(self, *a, **k)))
    plot_result("a title", ExperimentResult([], panels=panels), tmp_path / "p.svg")
    monkeypatch.undo()
    return figures[0].axes, figures[0].legends


def test_panels_of_the_same_systems_share_a_legend(monkeypatch, tmp_path):
    names = [f"system {n}" for n in range(8)]
    panels = [Panel(f"{n}", "x", "y", points={name: [(1, n)] for name in names}) for n in range(4)]
    axes, (legend,) = drawn_axes(monkeypatch, tmp_path, panels)
    assert [text.get_text() for text in legend.get_texts()] == names
    assert all(one.get_legend() is None for one in axes)
    inside = legend.get_window_extent()
    assert not any(inside.overlaps(one.get_tightbbox()) for one in axes)
    assert len({one.get_position().x0 for one in axes}) == 2  # four panels are two by two
    axes, legends = drawn_axes(monkeypatch, tmp_path, [*panels, Panel("other", "x", "y", {"a": [(1, 1)]})])
    assert not legends and all(one.get_legend() for one in axes)


def test_logarithmic_panels(monkeypatch, tmp_path):
    places = {"a": [(4.96, 1.0), (9.89, 2.0), (118.0, 3.0)]}
    panels = [Panel("log", "x", "y", places, logarithmic=True), Panel("linear", "x", "y", places)]
    (first, second), _ = drawn_axes(monkeypatch, tmp_path, panels)
    assert (first.get_xscale(), second.get_xscale()) == ("log", "linear")
    low, high = first.get_xlim()
    ticks = [float(tick) for tick in first.get_xticks() if low <= tick <= high]
    assert ticks == [5, 10, 20, 50, 100]
    shown = [text.get_text() for text in first.get_xticklabels()]
    assert {"5", "10", "20", "50", "100"} <= set(shown)
    document = [as_json("p", ExperimentResult([], panels=[panel]))["panels"][0] for panel in panels]
    assert document[0]["logarithmic"] is True and "logarithmic" not in document[1]
    assert from_json(as_json("p", ExperimentResult([], panels=panels))).panels[0].logarithmic


def test_registered_experiments_keep_the_protocol():
    for name, make in load_all("experiments").items():
        experiment = make()
        assert isinstance(experiment, Experiment), name
        assert "\n" not in experiment.title + experiment.description
        assert experiment.needs


def test_table_of_many_settings():
    rows = [ResultRow(system, f"part {i}", None, 50.0 + i, 10) for system in ("a", "b") for i in range(12)]
    head, first, *others = table(rows)
    assert head == ["", "a", "b"]
    assert first == ["part 0", "50.0", "50.0"]
    assert len(others) == 11
    few = table([*rows[:3], ResultRow("a", "part 3", 70.0, 53.0, 10, 0.5)])
    assert few[0] == ["system", "part 0", "part 1", "part 2", "part 3"]
    assert few[1] == ["a", "- / 50.0", "- / 51.0", "- / 52.0", "70.0 / 53.0 ± 0.5"]


class Sound:
    """An experiment that keeps its contract."""

    title = "A table"
    description = "figures"
    needs = ("texts/*.txt",)

    def run(self, *, data, quick, progress):
        return ExperimentResult([ResultRow("system", "1", None, 50.0, 3)], [Claim("it holds", True, "50 %")])


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"title": None}, "title is None; expected a text"),
        ({"description": 3}, "description is an int; expected a text"),
        ({"needs": "texts/*.txt"}, r"needs is 'texts/\*.txt'; expected a tuple of patterns"),
        ({"run": None}, "it has no method run; expected run"),
        ({"run": lambda self, *, data: None}, r"run\(.*\) cannot be called: .*unexpected keyword argument"),
    ],
)
def test_an_experiment_declares_what_it_needs(attributes, message):
    check_experiment(Sound())
    with pytest.raises(UserError, match=f"D414.*the experiment Odd: {message}"):
        check_experiment(type("Odd", (Sound,), attributes)())


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "run returned None; expected an ExperimentResult"),
        (ExperimentResult(None), "rows of its result is None; expected a list of ResultRow"),
        (ExperimentResult([("s", 1)]), "rows of its result has a tuple"),
        (ExperimentResult([], ["it holds"]), "claims of its result has a str; expected a list of Claim"),
        (ExperimentResult([ResultRow("s", "", None, "50", 3)]), "ours of the row 's' is a str; expected"),
    ],
)
def test_the_result_of_an_experiment_is_checked(result, message):
    check_result(Sound(), Sound().run(data=None, quick=True, progress=None))
    with pytest.raises(UserError, match=f"D414.*the experiment Sound: {message}"):
        check_result(Sound(), result)


def test_figures_of_a_pack_are_added_to_those_of_other_runs(tmp_path):
    cards = []
    figures = PackFigures(tmp_path, lambda folder, all_figures: cards.append((folder, all_figures)))
    assert figures.read() == {}
    figures.add({"speed": 1, "test": {"n": 2}})
    figures.add({"speed": 3})
    assert figures.read() == {"speed": 3, "test": {"n": 2}} and cards[-1] == (tmp_path, figures.read())


def test_builds_write_about_twenty_lines_per_stage(capsys):
    for done in range(1000):
        log_progress("reading", done, 1000)
    log_progress("finished")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 22 and lines[-2].endswith("reading 1,000/1,000") and lines[-1].endswith(" finished")
