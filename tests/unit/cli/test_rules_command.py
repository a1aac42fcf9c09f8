"""``disambig rules`` lists and explains rules; ``disambig check`` shows and hides them."""

from __future__ import annotations

import json
import os
import re

import pytest
from commands import here, process

from disambig.packs import available
from disambig.rules import CATALOGUE

TEXT = "It depends of the weather, and its hard to find a quite place. I ate a apple.\n"


def test_rules_are_listed_and_explained():
    done = here("rules")
    assert (done.returncode, done.stderr) == (0, "")
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    assert listed == sorted(listed) and {rule.name for rule in CATALOGUE} <= set(listed)
    assert "a-an " in done.stdout and " % right)" in done.stdout
    done = here("rules", "a-an")
    assert done.returncode == 0
    assert "wrong: I ate a apple." in done.stdout and "right: I ate an apple." in done.stdout
    assert "disambig: ignore-next-line[a-an]" in done.stdout
    done = here("rules", "agrement")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("disambig: [D519] unknown rule 'agrement'; available: agreement, ")
    assert done.stderr.endswith("; see `disambig rules`\n")


def test_rules_as_json():
    listed = {item["name"]: item for item in json.loads(here("rules", "--json").stdout)}
    assert 0 < listed["a-an"]["share"] < 1 and listed["extra-word"]["share"] is None
    (alone,) = json.loads(here("rules", "doubled-word", "--json").stdout)
    assert alone == listed["doubled-word"]
    assert alone["examples"] == [{"wrong": "We saw the the cat.", "right": "We saw the cat."}]


needs_pack = pytest.mark.skipif("spelling" not in available(), reason="needs the English pack")


@needs_pack
@pytest.mark.parametrize(
    ("options", "settings", "rules"),
    [
        ((), "", ["wrong-preposition", "confused-words", "confused-words", "a-an"]),
        (("--rule", "a-an", "--rule", "wrong-preposition"), "", ["wrong-preposition", "a-an"]),
        (("--ignore-rule", "confused-words"), "", ["wrong-preposition", "a-an"]),
        ((), 'rules = ["confused-words"]', ["confused-words", "confused-words"]),
        ((), 'ignore_rules = ["confused-words", "a-an"]', ["wrong-preposition"]),
        (("--ignore-rule", "a-an"), 'ignore_rules = ["confused-words"]', ["wrong-preposition"]),
    ],
)
def test_rules_are_shown_and_hidden(tmp_path, options, settings, rules):
    (tmp_path / "notes.md").write_text(TEXT)
    (tmp_path / "disambig.toml").write_text(settings)
    done = here("check", "notes.md", "--format", "jsonl", "-q", *options, folder=tmp_path)
    assert [json.loads(line)["rule"] for line in done.stdout.splitlines()] == rules, done.stderr


@needs_pack
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('ignore_rules = ["articel"]',
         r"\[D519\] \S+disambig.toml, ignore_rules: unknown rule 'articel'; .*: article"),
        ('[overrides."*.md"]\nrules = ["articel"]', r"\[D519\] \S+disambig.toml, \*.md, rules: unknown rule"),
        ('tasks = ["speling"]',
         r"\[D404\] .* in \S+disambig.toml, `tasks` .*; give a directory in `models` or one "
         r"of spelling, (?!.*\b(it|tag)\b)"),
    ],
)  # fmt: skip
def test_unknown_names_in_settings_are_reported_with_the_file(tmp_path, settings, message):
    (tmp_path / "disambig.toml").write_text(f"{settings}\n")
    (tmp_path / "notes.md").write_text(TEXT)
    done = here("check", "notes.md", folder=tmp_path)
    assert done.returncode == 2 and re.search(message, done.stderr), done.stderr


@needs_pack
def test_a_comment_silences_a_rule(tmp_path):
    silent = "<!-- disambig: ignore-next-line[a-an, confused-words] -->\n"
    (tmp_path / "notes.md").write_text(f"{silent}{TEXT}")
    done = here("check", "notes.md", folder=tmp_path)
    assert [line.split(" (")[0] for line in done.stdout.splitlines()] == ["notes.md:2:12: of -> on"]
    assert "D960" not in done.stderr
    (tmp_path / "notes.md").write_text(f"{TEXT}\n{silent}All is well.\n")
    stderr = here("check", "notes.md", folder=tmp_path).stderr
    assert "[D960] notes.md, line 3: 'ignore-next-line[a-an]' does not suppress any flag" in stderr
    done = here("check", "notes.md", "--rule", "artcle", folder=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("disambig: [D519] unknown rule 'artcle'; ")


@needs_pack
@pytest.mark.parametrize(
    ("expected", "advice"),
    [
        ("ignore-file[agrement]", "there is no rule or task 'agrement': correct it; available: agreement, "),
        ("ignore task:prepositon", "there is no rule or task 'prepositon': correct it; available: "),
        ("ignore agrement", "'agrement' is read as a word: for a rule or task, write ignore[agreement]; "),
        ("ignore horse", "remove it\n"),
    ],
)
def test_a_comment_with_an_unknown_rule_gets_the_nearest_names(tmp_path, expected, advice):
    (tmp_path / "notes.md").write_text(f"<!-- disambig: {expected} -->\n\nAll is well.\n")
    output = here("check", "notes.md", folder=tmp_path).stderr
    assert f"does not suppress any flag; {advice}" in output


@needs_pack
@pytest.mark.parametrize("format", ["github", "sarif", "rdjson"])
def test_reports_link_to_the_published_rules(tmp_path, format):
    (tmp_path / "notes.md").write_text("I ate a apple.\n")
    page = "https://example.org/rules.html"
    environment = {**os.environ, "DISAMBIG_RULES_PAGE": page}
    done = process("check", "--format", format, "notes.md", folder=tmp_path, env=environment)
    assert f"{page}#a-an" in done.stdout and "pypi" not in done.stdout, done.stderr
    if format == "github":
        done = here("check", "--format", format, "notes.md", folder=tmp_path)
        assert done.stdout.endswith(" - disambig rules a-an\n") and "pypi" not in done.stdout
