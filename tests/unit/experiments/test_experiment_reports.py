"""Results as JSON, as tables and in a document."""

from __future__ import annotations

import json

from matplotlib.figure import Figure

from disambig.experiments import (
    Claim,
    Experiment,
    ExperimentResult,
    Panel,
    ResultRow,
    as_json,
    fill,
    from_json,
    has_plot,
    main,
    markdown,
    plot_result,
    result_lines,
    table,
)

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


def test_json_has_the_agreed_form_and_comes_back():
    said = as_json("paper.table1", RESULT)
    assert list(said)[:3] == ["experiment", "rows", "claims"]
    assert said["rows"][0] == {
        "system": "sum",
        "setting": "",
        "paper": 73.7,
        "ours": 70.65,
        "n": 100,
        "spread": None,
    }
    assert said["claims"][1] == {"claim": "b < a", "holds": False, "evidence": "2, 1"}
    assert as_json("paper.table1", from_json(json.loads(json.dumps(said)))) == said


def test_people_see_the_papers_figure_beside_ours():
    lines = result_lines("a title", RESULT)
    assert lines[0] == "a title"
    assert lines[2].split() == ["system", "-", "10", "1,000"]
    assert "16.0 / 30.1 ± 2.0" in lines[4]
    assert "66.1 / n/a" in lines[4]
    assert "- / 40.0" in lines[5]
    assert any("holds" in line and "a < b" in line for line in lines)
    assert any("DOES NOT" in line and "b < a" in line for line in lines)
    assert lines[-1] == "* a note"


def test_markdown_keeps_bars_out_of_the_way():
    lines = markdown(RESULT)
    assert lines[0] == "| system | - | 10 | 1,000 |"
    assert r"| a < b | yes | 1 \| 2 |" in lines
    assert "| b < a | **no** | 2, 1 |" in lines


def test_a_document_gets_results_between_its_marks_and_nowhere_else(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "p.t1.json").write_text(json.dumps(as_json("p.t1", RESULT)), encoding="utf8")
    (tmp_path / "results" / "p.t1.svg").write_text("<svg/>", encoding="utf8")
    before = "head\n<!-- result: p.t1 -->\nstale\n<!-- end -->\n"
    before += "middle\n<!-- result: p.t2 -->\nkept\n<!-- end -->\n"
    after = fill(before, tmp_path / "results", seen_from=tmp_path)
    assert "stale" not in after
    assert "| sum | 73.7 / 70.6 |" in after or "| sum | 73.7 / 70.7 |" in after
    assert "![learning curves](results/p.t1.svg)" in after
    assert after.startswith("head\n")
    assert "kept" in after
    assert fill(after, tmp_path / "results", seen_from=tmp_path) == after


def test_a_document_is_filled_by_the_command_wherever_the_results_are(tmp_path):
    (tmp_path / "doc").mkdir()
    (tmp_path / "p.t1.json").write_text(json.dumps(as_json("p.t1", RESULT)), encoding="utf8")
    (tmp_path / "p.t1.svg").write_text("<svg/>", encoding="utf8")
    target = tmp_path / "doc" / "a.md"
    target.write_text("<!-- result: p.t1 -->\n<!-- end -->\n", encoding="utf8")
    assert main([str(target), str(tmp_path)]) == 0
    assert "![learning curves](../p.t1.svg)" in target.read_text(encoding="utf8")


def test_what_cannot_be_put_into_a_document_is_said_in_a_line(tmp_path, capsys):
    document, results = tmp_path / "a.md", tmp_path / "results"
    results.mkdir()
    assert main([str(document), str(results)]) == 2
    assert f"[D300] {document}" in capsys.readouterr().err
    document.write_text("<!-- result: p -->\n<!-- end -->\n", encoding="utf8")
    assert main([str(document), str(tmp_path / "none")]) == 2
    assert f"[D300] {tmp_path / 'none'}" in capsys.readouterr().err
    for arguments in ([], [str(document)], ["a", "b", "c"]):
        assert main(arguments) == 2
        assert f"[D727] expected a document and the directory of the results, not {len(arguments)}" in (
            capsys.readouterr().err
        )
    for text in ("{", "[]", "{}", '{"rows": [{}]}'):
        (results / "p.json").write_text(text, encoding="utf8")
        assert main([str(document), str(results)]) == 2
        said = capsys.readouterr().err
        assert f"[D726] {results / 'p.json'}" in said and said.count("\n") == 1
    assert document.read_text(encoding="utf8") == "<!-- result: p -->\n<!-- end -->\n"


def test_curves_are_drawn_the_same_each_time(tmp_path):
    assert has_plot(RESULT)
    assert not has_plot(
        ExperimentResult([ResultRow("svm", "10", 1.0, 1.0, 5), ResultRow("svm", "north", 1.0, 1.0, 5)])
    )
    for name in ("a.svg", "b.svg"):
        plot_result("a title", RESULT, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "training examples" in (tmp_path / "a.svg").read_text(encoding="utf8")


def test_panels_are_drawn_and_come_back_from_json(tmp_path):
    panel = Panel("left", "size", "gain, %", {"ours": [(1, -2.125), (2, 3.0)]}, {"theirs": [(1, 0.5)]})
    result = ExperimentResult(
        [ResultRow("svm", "", None, 1.0, 5)], panels=[panel, Panel("right", "x", "y", {"a": [(0, 0)]})]
    )
    assert has_plot(result)
    said = json.loads(json.dumps(as_json("p.f1", result)))
    assert said["panels"][0]["lines"] == {"ours": [[1, -2.12], [2, 3.0]]}
    assert as_json("p.f1", from_json(said)) == said
    plot_result("a title", from_json(said), tmp_path / "p.f1.svg")
    drawn = (tmp_path / "p.f1.svg").read_text(encoding="utf8")
    assert all(f">{word}<" in drawn for word in ("left", "right", "gain, %", "ours", "theirs", "a title"))
    (tmp_path / "p.f1.json").write_text(json.dumps(said), encoding="utf8")
    empty = "<!-- result: p.f1 -->\n<!-- end -->\n"
    assert "![figure](p.f1.svg)" in fill(empty, tmp_path, seen_from=tmp_path)


def drawn_axes(monkeypatch, tmp_path, panels):
    """Return the axes of the panels, drawn, and the legends of the whole figure."""
    figures = []
    plain = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), plain(self, *a, **k)))
    plot_result("a title", ExperimentResult([], panels=panels), tmp_path / "p.svg")
    monkeypatch.undo()
    return figures[0].axes, figures[0].legends


def test_panels_of_the_same_names_share_a_legend_that_covers_nothing(monkeypatch, tmp_path):
    names = [f"system {n}" for n in range(8)]
    alike = [Panel(f"{n}", "x", "y", points={name: [(1, n)] for name in names}) for n in range(4)]
    axes, (legend,) = drawn_axes(monkeypatch, tmp_path, alike)
    assert [text.get_text() for text in legend.get_texts()] == names
    assert all(one.get_legend() is None for one in axes)
    inside = legend.get_window_extent()
    assert not any(inside.overlaps(one.get_tightbbox()) for one in axes)
    assert len({one.get_position().x0 for one in axes}) == 2  # four panels are two by two
    axes, legends = drawn_axes(monkeypatch, tmp_path, [*alike, Panel("other", "x", "y", {"a": [(1, 1)]})])
    assert not legends and all(one.get_legend() for one in axes)


def test_sizes_are_apart_where_a_panel_is_logarithmic(monkeypatch, tmp_path):
    places = {"a": [(4.96, 1.0), (9.89, 2.0), (118.0, 3.0)]}
    panels = [Panel("log", "x", "y", places, logarithmic=True), Panel("linear", "x", "y", places)]
    (first, second), _ = drawn_axes(monkeypatch, tmp_path, panels)
    assert (first.get_xscale(), second.get_xscale()) == ("log", "linear")
    low, high = first.get_xlim()
    ticks = [float(tick) for tick in first.get_xticks() if low <= tick <= high]
    assert ticks == [5, 10, 20, 50, 100]
    shown = [text.get_text() for text in first.get_xticklabels()]
    assert {"5", "10", "20", "50", "100"} <= set(shown)
    said = [as_json("p", ExperimentResult([], panels=[panel]))["panels"][0] for panel in panels]
    assert said[0]["logarithmic"] is True and "logarithmic" not in said[1]
    assert from_json(as_json("p", ExperimentResult([], panels=panels))).panels[0].logarithmic


def test_every_registered_experiment_keeps_the_protocol():
    from disambig.registry import load_all

    for name, make in load_all("experiments").items():
        experiment = make()
        assert isinstance(experiment, Experiment), name
        assert "\n" not in experiment.title + experiment.description
        assert experiment.needs


def test_many_settings_go_down_and_figures_without_a_papers_stand_alone():
    rows = [ResultRow(system, f"part {i}", None, 50.0 + i, 10) for system in ("a", "b") for i in range(12)]
    head, first, *others = table(rows)
    assert head == ["", "a", "b"]
    assert first == ["part 0", "50.0", "50.0"]
    assert len(others) == 11
    few = table([*rows[:3], ResultRow("a", "part 3", 70.0, 53.0, 10, 0.5)])
    assert few[0] == ["system", "part 0", "part 1", "part 2", "part 3"]
    assert few[1] == ["a", "- / 50.0", "- / 51.0", "- / 52.0", "70.0 / 53.0 ± 0.5"]


def test_terminal_and_document_round_alike():
    result = ExperimentResult(
        (ResultRow("a", "", None, 57.552, 100), ResultRow("b", "", None, 57.549, 100)), ()
    )
    again = from_json(json.loads(json.dumps(as_json("x", result))))
    assert table(result.rows) == table(again.rows)
