"""Mining a history: corrected words, kept and skipped changes, hostile repositories, and the commands."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from commands import here
from hypothesis import given, strategies as st

from disambig.configuration import ProjectSettings, SettingsSource
from disambig.errors import UserError
from disambig.formats import Fix, fix_kind, read_clean, read_fixes
from disambig.mining import (
    ENGLISH,
    CorrectionKind,
    Miner,
    Paragraph,
    ProjectLayer,
    changed_paragraphs,
    classify,
    read_paragraphs,
    summarise,
    tuned_settings,
    word_edits,
    write_mined,
)

OTHER = "other-real-word"


def edits(before, after):
    return word_edits(Paragraph(before), Paragraph(after))


def classify_edit(before, after, vocabulary):
    (edit,) = edits(before, after)
    result = classify(edit, ENGLISH, vocabulary)
    return (result.category, result.sub) if isinstance(result, CorrectionKind) else result


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("It is higher then the church.", "It is higher than the church.", ("confusion", "than/then")),
        ("The dog wagged it's long tail.", "The dog wagged its long tail.", ("confusion", "its/it's")),
        ("We waited for for an hour there.", "We waited for an hour there.", ("doubled", "doubled")),
        ("She ate a orange in the garden.", "She ate an orange in the garden.", ("article", "a/an")),
        ("He opened window of the kitchen.", "He opened the window of the kitchen.", ("article", "")),
        ("They depend of the weather here.", "They depend on the weather here.", ("preposition", "")),
        ("They met in the station late.", "They met at the station late.", ("preposition", "pref")),
        ("They listened the radio all day.", "They listened to the radio all day.", ("preposition", "")),
        ("The boats was painted in May.", "The boats were painted in May.", ("agreement", "function")),
        ("My brother play the piano well.", "My brother plays the piano well.", ("agreement", "s")),
        ("The cooks hat fell to the floor.", "The cook's hat fell to the floor.", (OTHER, "possessive")),
        ("She was walk along the river.", "She was walking along the river.", (OTHER, "form")),
        ("The house was build in one summer.", "The house was built in one summer.", (OTHER, "form")),
        ("They bought bread form the baker.", "They bought bread from the baker.", (OTHER, "alike")),
        ("You can not see the sea from here.", "You cannot see the sea from here.", (OTHER, "split")),
        # changes that are not corrections
        ("We saw teh old castle yesterday.", "We saw the old castle yesterday.", "not a word"),
        ("The colour of the sea was deep.", "The color of the sea was deep.", "spelling variants"),
        ("They organise a party every year.", "They organize a party every year.", "spelling variants"),
        ("It works with the small engine.", "It works without the small engine.", "another meaning"),
        ("The store opens on Monday at noon.", "The store opens on Sunday at noon.", "another meaning"),
        ("Two of them, Harry and Jane, went.", "Two of them, Larry and Jane, went.", "names"),
        ("The big dog slept in the sun.", "The large dog slept in the sun.", "another word"),
        ("We saw the castle today.", "We saw the old castle today.", "another word inserted or removed"),
    ],
)  # fmt: skip
def test_kinds_of_corrections(before, after, expected, vocabulary):
    assert classify_edit(before, after, vocabulary) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The cat sat on the mat.", "The Cat sat on the mat!"),  # capitals and punctuation
        ("Call get_user first of all.", "Call get_users first of all."),  # a name
        ("See the page http://a.org/then now.", "See the page http://a.org/than now."),
        ("One two three four five six seven.", "Eight nine ten eleven twelve six seven."),
    ],
)
def test_changes_that_are_not_edits(before, after):
    assert edits(before, after) == []


def test_each_of_several_edits_is_undone_separately():
    before = "It depends of the weather, and the boats was late."
    after = "It depends on the weather, and the boats were late."
    first, second = edits(before, after)
    assert first.before == "It depends of the weather, and the boats were late."
    assert second.before == "It depends on the weather, and the boats was late."
    assert (first.n_edits, second.n_edits) == (2, 2)


def test_a_missing_word_at_the_end_is_placed_before_the_full_stop():
    (edit,) = edits("This is what we talked.", "This is what we talked about.")
    assert (edit.start, edit.end, edit.old, edit.new) == (22, 22, "", "about")


ANY_WORD = st.sampled_from("a the of to boat boats is are when river stone".split())
WORDS = st.lists(ANY_WORD, min_size=6, max_size=12)


@given(WORDS, WORDS, st.integers(0, 11))
def test_applying_an_edit_gives_the_new_text(words, others, at):
    changed = [*words[: at % len(words)], *others[:1], *words[at % len(words) + len(others) % 2 :]]
    before, after = " ".join(words), " ".join(changed)
    for edit in edits(before, after):
        assert edit.before[edit.start : edit.end] == edit.old
        kind = fix_kind(edit.old, edit.new)
        fix = Fix(edit.before, edit.start, edit.end, edit.old, edit.new, "", "", kind, 1, "")
        assert fix.corrected().split() == after.split()


def test_the_most_similar_paragraphs_are_paired_and_moved_ones_are_not_changed():
    old = [Paragraph("The first boat was painted green."), Paragraph("A river flows by the old mill.")]
    new = [
        Paragraph("Something else was written here."),
        old[1],
        Paragraph("The first boat were painted green."),
    ]
    ((one, other),) = changed_paragraphs(old, new)
    assert (one.text, other.text) == (old[0].text, new[2].text)


def test_a_rewritten_file_is_rejected():
    old = [Paragraph(f"This is the old line number {i}.") for i in range(300)]
    new = [Paragraph(f"This is a newer line with number {i}.") for i in range(300)]
    with pytest.raises(ValueError, match="rewritten"):
        list(changed_paragraphs(old, new))


def test_paragraphs_have_no_markup_and_mark_their_code():
    text = "# A title of the page\n\n* Run `make all` and **wait**, see [the page](http://a.org).\n"
    title, item = read_paragraphs("a.md", text)
    assert (title.text, item.text) == ("A title of the page", "Run x and wait, see the page.")
    assert [item.text[start:end] for start, end in item.code] == ["x"]
    (item,) = read_paragraphs("a.md", "Run `make` and wait for it.\n")
    assert item.text == "Run make and wait for it."
    assert [token.word for token in item.tokens if token.is_code] == ["make"]
    (item,) = read_paragraphs("a.md", "Run `make` and wait for it.\n", keep_code=False)
    assert item.text == "Run \ufffc and wait for it."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "The **boats** was\nlate today.\n"),
        ("a.rst", "The *boats* was\nlate today.\n"),
        ("a.tex", "The \\emph{boats} was\nlate today.\n"),
        ("a.txt", "The boats was\nlate today.\n"),
        ("a.py", "# The boats was\n# late today.\nx = 1\n"),
    ],
)
def test_every_format_that_is_checked_is_read(name, text):
    assert "The boats was late today." in [paragraph.text for paragraph in read_paragraphs(name, text)]


GOOD = "Nobody has touched this old paragraph about the river."
WRONG, RIGHT = "The boats was late, as they often are.", "The boats were late, as they often are."


def page(*paragraphs):
    return "\n\n".join(paragraphs) + "\n"


def mine(history, vocabulary, **options):
    return Miner(str(history.home), vocabulary, "en", **options).mine()


def pairs(mined):
    return [one.edit.pair for one in mined.corrections]


def commit_a_correction(history):
    history.commit("first", {"a.md": page(GOOD, WRONG)})
    history.commit("Fix a typo", {"a.md": page(GOOD, RIGHT)})


def test_a_correction_and_a_clean_paragraph(history, vocabulary, tmp_path):
    history.commit("first", {"docs/a.md": page(GOOD, WRONG), "code.py": "x = 1\n"})
    commit = history.commit("Fix a typo", {"docs/a.md": page(GOOD, RIGHT), "code.py": "x = 2\n"})
    history.commit("last", {"b.md": page("A new paragraph that is too young.")}, days=400)
    mined = mine(history, vocabulary)
    assert pairs(mined) == [("was", "were")]
    assert {one.text for one in mined.clean} == {GOOD, RIGHT}
    assert (mined.commits, mined.files, mined.skipped["files of other formats"]) == (3, 1, 1)
    record = mined.corrections[0].record("project")
    assert record | {"id": ""} == {
        "id": "", "repo": "project", "licence": "", "commit": commit, "path": "docs/a.md", "year": 2020,
        "class": "agreement", "sub": "function", "kind": "replace", "old": "was", "new": "were",
        "before": WRONG, "start": 10, "end": 13, "after": RIGHT, "said_fix": True, "said_strong": True,
        "small": True, "same": True, "cut": False, "multi": 0, "tier": 1,
    }  # fmt: skip
    output = tmp_path / "mined"
    write_mined(output, [mined], summarise([mined]))
    (fix,) = read_fixes(output / "fixes.jsonl")
    assert (fix.before, fix.corrected(), fix.category) == (WRONG, RIGHT, "agreement")
    assert {one.text for one in read_clean(output / "clean.jsonl")} == {GOOD, RIGHT}
    for file in output.iterdir():
        assert "zaphod" not in file.read_text().lower()  # no authors


def test_tiers(history, vocabulary):
    others = [f"The other paragraph with number {word} is here." for word in "one two three four".split()]
    wrong = [f"The boats of {name} was late that evening." for name in ("Rome", "Paris", "Oslo")]
    right = [text.replace("was", "were") for text in wrong]
    history.commit("first", {"a.md": page(*wrong), "b.md": page(*others)})
    history.commit("Update", {"a.md": page(right[0], *wrong[1:])})  # nothing else is changed
    changed = [text.replace("is here", "stood in this place") for text in others]
    history.commit("Update", {"a.md": page(*right[:2], wrong[2]), "b.md": page(*changed * 3)})
    history.commit("Grammar", {"a.md": page(*right), "b.md": page(*others * 3)})
    assert [one.tier for one in mine(history, vocabulary).corrections] == [1, 2, 1]


def test_reverted_changes_are_left_out(history, vocabulary):
    commit_a_correction(history)
    history.commit("Rewrite", {"a.md": page(GOOD, WRONG)})
    mined = mine(history, vocabulary)
    assert not mined.corrections
    assert mined.skipped["changed words: undone, or changed back and forth"] == 2
    history.commit('Revert "Rewrite"', {"a.md": page(GOOD, RIGHT)})
    assert mine(history, vocabulary).skipped["commits that revert others"] == 1


def test_renaming_everywhere_is_not_a_correction(history, vocabulary):
    lines = [f"The modes of part {word} are described in this text." for word in "abcdefghijkl"]
    history.commit("first", {"a.md": page(*lines)})
    history.commit("Update", {"a.md": page(*(line.replace("modes", "models") for line in lines))})
    mined = mine(history, vocabulary)
    assert not mined.corrections
    assert mined.skipped["changed words: renamed everywhere in a commit"] == 12


def test_a_renamed_file_and_a_name_that_is_not_utf8(history, vocabulary):
    history.commit("first", {b"caf\xe9.md": page(GOOD, WRONG), "a.md": page(GOOD, *["More text here."] * 9)})
    history.git("mv", "a.md", "b.md")
    changed = page(GOOD.replace("about", "of"), *["More text here."] * 9)
    history.commit("Fix typos", {b"caf\xe9.md": page(GOOD, RIGHT), "b.md": changed})
    mined = mine(history, vocabulary)
    assert sorted(pairs(mined)) == [("about", "of"), ("was", "were")]
    paths = {one.record("x")["path"] for one in mined.corrections}
    assert paths == {"b.md", "caf\\xe9.md"}
    json.dumps(summarise([mined])).encode("utf8")


def test_unreadable_files_are_counted(history, vocabulary):
    files = {"a.md": page(GOOD, WRONG).encode("utf-16"), "b.md": page(GOOD) + "x y z " * 400_000}
    history.commit("first", files)
    history.commit("Fix typos", {"a.md": page(GOOD, RIGHT).encode("utf-16"), "b.md": page(RIGHT) * 90_000})
    mined = mine(history, vocabulary)
    assert not mined.corrections
    assert mined.skipped["files that are too large, or missing in the clone"]
    assert mined.skipped["files that are not UTF-8"]


def test_comments_of_code_are_read_on_request(history, vocabulary):
    history.commit("first", {"a.py": f"# {WRONG}\nwas = 1\n"})
    history.commit("Fix", {"a.py": f"# {RIGHT}\nwere = 1\n"})
    assert not mine(history, vocabulary).corrections
    settings = ProjectSettings(SettingsSource("--include", {"include": ["*.py"]}))
    assert pairs(mine(history, vocabulary, settings=settings)) == [("was", "were")]


def test_the_settings_of_the_project_decide_which_files_are_read(history, vocabulary):
    history.commit("first", {"a.md": page(WRONG), "old/a.md": page(WRONG.replace("boats", "ships"))})
    files = {"a.md": page(RIGHT), "old/a.md": page(RIGHT.replace("boats", "ships"))}
    history.commit("Fix", files | {"disambig.toml": 'exclude = ["old/"]\n'})
    assert [one.path for one in mine(history, vocabulary).corrections] == ["a.md"]


def test_a_young_history_and_a_shallow_clone_are_noted(history, vocabulary, tmp_path):
    commit_a_correction(history)
    mined = mine(history, vocabulary)
    assert not mined.clean
    assert mined.notes == ["no paragraph is older than 365 days"]
    history.git("clone", "-q", "--depth=1", history.home.as_uri(), str(tmp_path / "shallow"))
    mined = Miner(str(tmp_path / "shallow"), vocabulary, "en").mine()
    assert not mined.corrections
    assert "shallow" in mined.notes[0]


def test_a_bare_repository(history, vocabulary, tmp_path):
    commit_a_correction(history)
    bare = tmp_path / "clones" / "bare.git"
    (tmp_path / "clones" / "inside").mkdir(parents=True)
    history.git("clone", "-q", "--bare", history.home.as_uri(), str(bare))
    history.git("-C", str(tmp_path / "clones"), "init", "-q")  # a repository around it does not matter
    mined = Miner(str(bare), vocabulary, "en").mine()
    assert (mined.name, pairs(mined)) == ("bare", [("was", "were")])
    assert mined.head == mine(history, vocabulary).head
    assert pairs(Miner(str(history.home / ".git"), vocabulary, "en").mine()) == [("was", "were")]
    done = here("tune", bare)
    assert (done.returncode, done.stderr.count("\n"), "[D547]" in done.stderr) == (2, 1, True)
    with pytest.raises(UserError, match="D542"):  # only the folder that is named may be bare
        Miner(str(tmp_path / "clones" / "inside"), vocabulary, "en")


def test_a_bare_repository_of_another_user(history, vocabulary, tmp_path, monkeypatch):
    commit_a_correction(history)
    history.git("clone", "-q", "--bare", history.home.as_uri(), str(tmp_path / "bare"))
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # read by git itself
    with pytest.raises(UserError, match="D968"):
        Miner(str(tmp_path / "bare"), vocabulary, "en")


def test_folders_without_a_history(tmp_path, history, vocabulary):
    (tmp_path / "plain").mkdir()
    for folder, code in ((tmp_path / "plain", "D541"), (tmp_path / "none", "D541"), (history.home, "D542")):
        with pytest.raises(UserError, match=code):
            Miner(str(folder), vocabulary, "en")
    for command in (["fixes", "mine", tmp_path, "--output", tmp_path / "x"], ["tune", tmp_path]):
        done = here(*command)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1 and "D541" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="the traps are shell scripts")
def test_a_hostile_repository_runs_nothing(history, vocabulary, tmp_path):
    history.commit("first", {"a.md": page(GOOD, WRONG)})
    history.commit("Fix", {"a.md": page(GOOD, RIGHT), ".gitattributes": "*.md filter=x diff=x merge=x\n"})
    mark, trap = tmp_path / "ran", tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    trap.chmod(0o755)
    keys = """
        core.fsmonitor core.pager core.sshCommand core.askPass core.editor core.gitProxy
        core.alternateRefsCommand filter.x.clean filter.x.smudge filter.x.process diff.external
        diff.x.command diff.x.textconv pager.log
        pager.cat-file gpg.program gpg.ssh.program credential.helper uploadpack.packObjectsHook
        sequence.editor alias.log alias.cat-file alias.rev-list remote.origin.uploadpack
    """
    for key in keys.split():
        history.git("config", key, f"!{trap}" if key.startswith("alias") else str(trap))
    for key, value in {
        "log.showSignature": "true",
        "core.hooksPath": str(tmp_path / "hooks"),
        "core.attributesFile": str(tmp_path / "attributes"),
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": f"ext::{trap}",
        "remote.origin.promisor": "true",
        "protocol.ext.allow": "always",
        "include.path": str(tmp_path / "more"),
    }.items():
        history.git("config", key, value)
    (tmp_path / "attributes").write_text("* filter=x diff=x\n")
    (tmp_path / "more").write_text(f"[core]\n\tfsmonitor = {trap}\n")
    hooks = (history.home / ".git" / "hooks", tmp_path / "hooks")
    for folder in hooks:
        folder.mkdir(exist_ok=True)
        for name in ("post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction"):
            shutil.copy(trap, folder / name)
    mark.unlink(missing_ok=True)
    mined = mine(history, vocabulary)
    assert pairs(mined) == [("was", "were")]
    assert not mark.exists()
    history.git("log", "-p", "--ext-diff")
    assert mark.exists()  # the traps do work


def test_output_replaces_only_its_own_results(history, vocabulary, tmp_path):
    commit_a_correction(history)
    mined = mine(history, vocabulary)
    output = tmp_path / "mined"
    write_mined(output, [mined], summarise([mined]))
    with pytest.raises(UserError, match="D310"):
        write_mined(output, [mined], summarise([mined]))
    write_mined(output, [mined], summarise([mined]), force=True)
    (output / "mine.txt").write_text("my own notes")
    with pytest.raises(UserError, match="D544"):
        write_mined(output, [mined], summarise([mined]), force=True)
    assert (output / "mine.txt").read_text() == "my own notes"


@pytest.fixture
def project(history):
    wrong = ["The weather was better then we had hoped, and we stayed.", "They waited for for an hour there."]
    right = [wrong[0].replace("then", "than"), wrong[1].replace("for for", "for")]
    history.commit("first", {"a.md": page(GOOD, *wrong)})
    history.commit("Fix", {"a.md": page(GOOD, right[0], wrong[1])}, days=800)
    history.commit("Fix", {"a.md": page(GOOD, *right)}, days=800)
    history.commit("last", {"b.md": "A young paragraph stands alone in this file.\n"}, days=800)
    return history.home


def test_mine_writes_what_evaluate_reads(project, tmp_path):
    done = here("fixes", "mine", project, "--output", tmp_path / "mined")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("project: 2 corrections (2 very likely)")
    assert "confusion" in done.stdout and "doubled" in done.stdout
    files = tmp_path / "mined" / "fixes.jsonl", tmp_path / "mined" / "clean.jsonl"
    done = here("evaluate", "--fixes", files[0], "--clean", files[1], "--json")
    assert json.loads(done.stdout)["all"]["n"] == 2
    again = here("fixes", "mine", project, "--output", tmp_path / "mined")
    assert (again.returncode, "D310" in again.stderr) == (2, True)
    quiet = here("fixes", "mine", project, "--output", tmp_path / "mined", "--force", "--quiet")
    assert "confusion" in quiet.stdout and "project" not in quiet.stdout + quiet.stderr
    forced = here("fixes", "mine", project, "--output", tmp_path / "mined", "--force", "--json", "-q")
    assert json.loads(forced.stdout)["projects"][0]["tier_1"] == 2


def test_tune_measures_both_halves_and_writes_nothing_if_it_learns_nothing(project):
    done = here("tune", project, "-q")
    assert done.returncode == 0, done.stderr
    assert "newer, tuned" in done.stdout and "nothing to set: the models do as well" in done.stdout
    assert "disambig.toml" not in done.stdout + done.stderr
    done = here("tune", project, "--json", "-q")
    assert json.loads(done.stdout)["measured"]["older, as shipped"]["mistakes"] == 1
    assert not list(project.glob("disambig*"))


def test_tune_writes_settings(project, monkeypatch):
    learned = ProjectLayer({}, ("quite",))
    monkeypatch.setattr("disambig.mining.tuned_settings", lambda top, layer: tuned_settings(top, learned))
    done = here("tune", project, "--dry-run", "-q")
    assert f"# {project / 'disambig.toml'}" in done.stdout and "disambig-ignore.txt" in done.stdout
    assert not list(project.glob("disambig*"))
    done = here("tune", project)
    assert f"written: {project / 'disambig.toml'}, {project / 'disambig-ignore.txt'}" in done.stderr
    assert here("check", "--show-settings", "a.md", folder=project).returncode == 0
