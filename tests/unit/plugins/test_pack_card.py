"""The card of the English pack: it shows the figures that there are, whichever run made them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

PACK = Path(__file__).parents[3] / "corpora" / "disambig_en"
DOMAINS = ("essays", "health")


@pytest.fixture
def card(monkeypatch):
    monkeypatch.syspath_prepend(str(PACK))
    monkeypatch.delitem(sys.modules, "card", raising=False)
    import card

    monkeypatch.setattr(card, "_contents", lambda home: "")
    yield card
    sys.modules.pop("card", None)


def at(accuracy, *, among=None):
    """What scoring one text gives; without `among` as it was before the choice among words was scored."""
    rate = {"errors_found": 0.5, "false_flags_per_1000": 0.31}
    found = {
        "words": 1000,
        "groups": {"preposition": {"accuracy": accuracy, "interval": (0.5, 0.9), "n": 100}},
        "reliability": None,
        "rates": {"0.3": rate},
    }
    if among is not None:
        about = {"n": 90, "majority": 0.3, "accuracy": among, "interval": (0.6, 0.8)}
        found["among_words"] = about
    return found


def of(names, among=None):
    return {"preposition": {name: at(0.7, among=among) for name in names}}


def shown(card, tmp_path, **figures):
    card.write_card(tmp_path, figures)
    text = (tmp_path / "README.md").read_text(encoding="utf8")
    return [line for line in text.splitlines() if line.startswith(("| all |", "| mean of", "| essays"))], text


ALL = ("all", *DOMAINS)


def test_all_figures(card, tmp_path):
    lines, _ = shown(
        card,
        tmp_path,
        scores=of(ALL, 0.7),
        all_counts={**of(ALL, 0.8), "bytes": 1, "n_ngrams": 1},
        left_out=of(DOMAINS, 0.6),
    )
    assert "| all | 90 | 30.0 % | 70.0 % (60.0-80.0) | 80.0 % |  |" in lines
    assert "| essays | 90 | 30.0 % | 70.0 % (60.0-80.0) | 80.0 % | 60.0 % |" in lines
    assert "| mean of domains |  |  | 70.0 % | 80.0 % | 60.0 % |" in lines


def test_kenlm_has_a_column_where_it_was_scored(card, tmp_path):
    lines, _ = shown(
        card,
        tmp_path,
        scores=of(ALL, 0.7),
        left_out=of(DOMAINS, 0.6),
        left_out_kenlm=of(DOMAINS, 0.5),
    )
    assert "| essays | 90 | 30.0 % | 70.0 % (60.0-80.0) |  | 60.0 % | 50.0 % |" in lines
    assert "| mean of domains |  |  | 70.0 % |  | 60.0 % | 50.0 % |" in lines


def test_sets_kenlm_section(card):
    from card import kenlm_section

    def found(**accuracy):
        return {name: {"n": 10, "accuracy": share} for name, share in accuracy.items()}

    ours = {"essays": {"groups": found(a=0.9, b=0.5, c=0.0)}, "health": {"groups": found(a=1.0)}}
    theirs = {"essays": {"groups": found(a=0.8, b=0.6)}}  # what one of the two did not decide stays out
    lines = kenlm_section("x", {"left_out": {"x": ours}, "left_out_kenlm": {"x": theirs}})
    assert "| essays | 20 | 70.0 % | 70.0 % |" in lines and "| all | 20 | 70.0 % | 70.0 % |" in lines
    assert kenlm_section("x", {"left_out": {"x": ours}}) == []


@pytest.mark.parametrize(
    "figures",
    [
        {"left_out": of(["essays"], 0.6)},
        {"all_counts": {**of(ALL, 0.8), "bytes": 1, "n_ngrams": 1}},
        {"left_out": of(["essays"], 0.6), "all_counts": of(ALL)},
    ],
)
@pytest.mark.parametrize("names", [ALL, ("all", "health")])
def test_a_run_beside_older_scores_leaves_out_what_is_not_there(card, tmp_path, figures, names):
    lines, text = shown(card, tmp_path, scores=of(names), **figures)
    assert not any(line.startswith("| mean of") for line in lines) and "Between the 34 words" not in text
    assert "## Task preposition" in text and "50.0 % (0.31)" in text


def test_older_figures_beside_new_scores(card, tmp_path):
    older = {"left_out": of(DOMAINS), "all_counts": of(ALL)}
    lines, _ = shown(card, tmp_path, scores=of(ALL, 0.7), **older)
    assert "| essays | 90 | 30.0 % | 70.0 % (60.0-80.0) |  |  |" in lines
    assert "| mean of domains |  |  | 70.0 % |  |  |" in lines


def test_figures_of_some_domains_only_have_no_mean(card, tmp_path):
    lines, _ = shown(card, tmp_path, scores=of(ALL, 0.7), left_out=of(["essays"], 0.6))
    assert "| mean of domains |  |  | 70.0 % |  |  |" in lines


@pytest.mark.parametrize("figures", [{}, {"left_out": of(DOMAINS, 0.6)}, {"all_counts": of(ALL, 0.8)}])
def test_without_scores_there_is_no_task(card, tmp_path, figures):
    assert "## Task" not in shown(card, tmp_path, **figures)[1]


def test_sets_that_are_weak_with_their_domain_left_out_are_named(card):
    def domain(**groups):
        found = {}
        for name, (n, right, most) in groups.items():
            found[name] = {"n": n, "accuracy": right / n, "majority": most / n}
        return {"groups": found}

    pooled = card._pooled(
        {"a": domain(weak=(30, 10, 25), good=(50, 48, 40)), "b": domain(weak=(10, 5, 5), few=(5, 0, 5))}
    )
    assert pooled["weak"] == {"n": 40, "accuracy": 15 / 40, "majority": 30 / 40}
    said = " ".join(card._weak_sets(pooled))
    assert "weak (37.5 %)" in said and "good" not in said and "few" not in said
    assert card._weak_sets({"good": pooled["good"]}) == []
