"""The domains: those of the papers' tables stay, those of the pack are what its build counts."""

from __future__ import annotations

import lzma
import sys
from pathlib import Path

import pytest
from disambig_variance_svm import plain_text
from disambig_variance_svm.experiments import domains, people, table1, table2, table3
from disambig_variance_svm.experiments import external as peers

EIGHT = "fiction government health mixed science speeches technical textbooks".split()


def test_the_tables_count_eight_domains():
    assert tuple(f"english/{domain}.train.txt.xz" for domain in EIGHT) == plain_text.COUNTED
    assert tuple(f"english/{domain}.heldout.txt.xz" for domain in EIGHT) == plain_text.HELD_OUT
    for experiment in (
        table1.Bergsma2010Table1,
        table2.Bergsma2010Table2,
        table3.Bergsma2010Table3,
        domains.Bergsma2010Domains,
    ):
        english = {name for name in experiment.needs if name.startswith("english/")}
        assert english <= {*plain_text.COUNTED, *plain_text.HELD_OUT}


def test_what_is_set_beside_the_pack_reads_its_twelve():
    assert len(set(plain_text.PACK_DOMAINS)) == 12 and set(EIGHT) < set(plain_text.PACK_DOMAINS)
    assert peers.Bergsma2010Peers.needs == plain_text.PACK_HELD_OUT
    assert not any(
        name.startswith("english/") for name in people.PeopleMistakes().needs
    )  # KenLM may be left out


@pytest.fixture
def material(monkeypatch):
    """The module of the pack's build."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "corpora" / "disambig_en"))
    monkeypatch.delitem(sys.modules, "material", raising=False)
    import material

    yield material
    sys.modules.pop("material", None)


def test_the_build_counts_the_same_paragraphs(material, tmp_path):
    (tmp_path / "english").mkdir()
    for name in plain_text.PACK_COUNTED:
        with lzma.open(tmp_path / name, "wt", encoding="utf8") as out:
            out.write("".join(f"{name} {n}\n" for n in range(8)))
    assert material.DOMAINS == plain_text.PACK_DOMAINS
    for domain in plain_text.PACK_DOMAINS:
        ours = list(plain_text.pack_paragraphs(tmp_path, domain))
        assert ours == list(material.read_text(tmp_path, "train", [domain]))
        assert len(ours) == (3 if domain == "fiction" else 8)
