"""``disambig train`` from the shell: the example, labelled examples, topics and senses."""

from __future__ import annotations

import csv
import json
import re

import pytest
from commands import here, process

BRING = [
    "Please bring me a chair.",
    "She will bring her brother to the party.",
    "Bring your own cup when you come.",
]

TAKE = ["It will take an hour.", "You should take care of it.", "Take a look at the map before you go."]
PLACES = ["chair", "map", "cup", "book", "coat"]
LABELLED = [f"Please [[bring]] me a {one}.\tbring" for one in PLACES]
LABELLED += [f"You should [[bring]] care of the {one}.\ttake" for one in PLACES]


def run(folder, *arguments, status=0):
    """Run a command in a folder; each argument is split into words. An error is one line."""
    done = here(*(word for argument in arguments for word in str(argument).split()), folder=folder)
    assert done.returncode == status, done.stderr
    if status:
        assert done.stderr.startswith("disambig: [D") and done.stderr.count("\n") == 1, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    printed = run(folder, "train --example")
    assert not printed.stderr
    (folder / "my.cfg").write_text(printed.stdout, encoding="utf8")
    (folder / "texts.txt").write_text("\n".join((BRING + TAKE) * 20) + "\n", encoding="utf8")
    (folder / "ten.tsv").write_text("\n".join(LABELLED) + "\n", encoding="utf8")
    return folder


def test_the_example_trains_from_text_and_the_model_finds_an_error(folder):
    done = run(folder, "train my.cfg --text texts.txt --lines --output model")
    assert "1 of 1 group learned" in done.stderr
    (folder / "new.txt").write_text("Could you bring care of it?\n", encoding="utf8")
    flags = run(folder, "annotate new.txt --model model --format text --flags-per-1000 5")
    assert "bring -> take" in flags.stdout
    card = (folder / "model" / "README.md").read_text(encoding="utf8")
    assert "*bring* / *take*" in card


def test_the_example_trains_from_ten_labels_and_says_that_they_are_few(folder):
    done = run(folder, "train my.cfg --labelled ten.tsv --output few")
    assert "10 labelled examples are few" in done.stderr
    assert "0 of 1 group learned" in done.stderr  # min_examples is 20
    assert (
        "left to the baseline: 1 group with fewer than 20 examples to learn from (bring/take)" in done.stderr
    )


def test_sets_that_are_not_learned_are_named_with_the_reason(folder):
    sets = '[["bring", "take"], ["fewer", "less"], ["lose", "loose"]]'
    config = (folder / "my.cfg").read_text(encoding="utf8")
    config = re.sub("(?m)^candidates = .*", f"sets = {sets}", config)
    (folder / "sets.cfg").write_text(config, encoding="utf8")
    less = [f"We had less {one} than they." for one in PLACES * 8]
    lines = "\n".join((BRING + TAKE) * 20 + less + ["We lose.", "They lose.", "The knot is loose."])
    (folder / "sets.txt").write_text(lines + "\n", encoding="utf8")
    done = run(folder, "train sets.cfg --text sets.txt --lines --output sets --no-test")
    assert "1 of 3 groups learned" in done.stderr
    assert "1 group with fewer than 20 examples to learn from (lose/loose)" in done.stderr
    assert "1 group with the same right candidate in all examples to learn from (fewer/less)" in done.stderr


CONFIG = """
[model]
name = "my/it"

[task]
@disambig_tasks = "variance_svm.It.v1"

[tokenisation]
@disambig_tokenisations = "variance_svm.NormalisedWords.v1"

[extractors]

[extractors.counts]
@disambig_extractors = "variance_svm.FillerCounts.v1"
counts = "my.counts"

[extractors.words]
@disambig_extractors = "disambig.SentenceWords.v1"

[learner]
@disambig_learners = "variance_svm.VarianceSVM.v1"
variance = [["it"], ["they"]]

[baseline]
@disambig_learners = "variance_svm.SumLM.v1"
patterns = ["it"]
minus = ["they"]
"""

PAIRS = [
    ("is important to know that", "ate the bread"),
    ("was hard to find a room", "broke the new cup"),
    ("is easy to see why", "lost the long race"),
    ("was nice to meet you", "sold three old cars"),
    ("is wise to wait here", "made a loud noise"),
]


@pytest.fixture(scope="module")
def labelled_folder(tmp_path_factory):
    labelled_folder = tmp_path_factory.mktemp("labelled")
    lines, texts = [], []
    for place_holder, referential in PAIRS:
        lines += [f"[[It]] {place_holder}.\tnon-referential", f"Then [[it]] {referential}.\treferential"]
        texts += [f"It {place_holder}.", f"Then it {referential}.", f"Then they {referential}."]
    (labelled_folder / "ten.tsv").write_text("\n".join(lines) + "\n", encoding="utf8")
    (labelled_folder / "texts.txt").write_text("\n".join(texts) + "\n", encoding="utf8")
    (labelled_folder / "it.cfg").write_text(CONFIG, encoding="utf8")
    view = "variance_svm.NormalisedWords.v1"
    run(labelled_folder, "counts build texts.txt --gaps --tokenisation", view, "--output my.counts")
    return labelled_folder


@pytest.fixture(scope="module")
def trained(labelled_folder):
    return run(labelled_folder, "train it.cfg --labelled ten.tsv --output model")


def test_training_with_ten_examples_says_that_they_are_few(labelled_folder, trained):
    assert "10 labelled examples are few: do not rely on this model yet" in trained.stderr
    assert "accuracy 100.0% (72.2% to 100.0%) on 10 examples" in trained.stderr
    assert trained.stderr.count("accuracy") == 1
    done = run(labelled_folder, "annotate - --model model --format jsonl --output out.jsonl", status=2)
    assert "disambig:" in done.stderr  # standard input was empty
    (labelled_folder / "new.txt").write_text("It was easy to find a cup.\n", encoding="utf8")
    run(labelled_folder, "annotate new.txt --model model --output new.jsonl")
    (decision,) = json.loads((labelled_folder / "new.jsonl").read_text(encoding="utf8"))["decisions"]
    assert decision["chosen"] == "non-referential" and not decision["flagged"]
    assert decision["replacement"] == decision["observed"] == "It"


def test_the_model_and_the_config_are_scored_on_examples(labelled_folder, trained):
    done = run(labelled_folder, "evaluate model --labelled ten.tsv")
    assert "10 examples in 10 documents" in done.stdout and "non-referential: precision" in done.stdout
    done = run(labelled_folder, "evaluate it.cfg --labelled ten.tsv --folds 5 --json")
    result = json.loads(done.stdout)
    assert set(result["systems"]) == {"model", "baseline", "majority"} and result["folds"] == 5
    done = run(labelled_folder, "evaluate it.cfg --labelled ten.tsv --folds 2")
    assert "unsupervised baseline, it: accuracy" in done.stdout


def test_wrong_decisions_are_written_in_a_form_that_can_be_read_again(labelled_folder, trained):
    lines = ["[[It]] is easy to see that.\treferential", "Then [[it]] broke the cup.\treferential"]
    (labelled_folder / "new.tsv").write_text("\n".join(lines) + "\n", encoding="utf8")
    done = run(labelled_folder, "evaluate model --labelled new.tsv --errors wrong.jsonl")
    assert "wrong.jsonl: 1 wrong decision" in done.stderr
    (record,) = map(json.loads, (labelled_folder / "wrong.jsonl").read_text(encoding="utf8").splitlines())
    assert record.pop("margin") > 0
    assert record == {
        "text": "[[It]] is easy to see that.",
        "label": "referential",
        "chosen": "non-referential",
        "group": "it",
        "where": "new.tsv, line 1",
    }
    again = run(labelled_folder, "evaluate model --labelled wrong.jsonl --json")
    assert json.loads(again.stdout)["overall"]["accuracy"] == 0.0
    run(
        labelled_folder,
        "evaluate it.cfg --labelled ten.tsv --labelled new.tsv --folds 3 --errors folds.jsonl",
    )
    with (labelled_folder / "folds.jsonl").open(encoding="utf8") as file:
        margins = [json.loads(line)["margin"] for line in file]
    assert margins and margins == sorted(margins, reverse=True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("evaluate", "model", "--labelled", "ten.tsv", "--errors", "missing/wrong.jsonl"), "D309"),
        (("train", "it.cfg", "--text", "texts.txt", "-o", "other"), "D463"),
        (("train", "it.cfg", "--labelled", "missing.tsv", "-o", "other"), "D300"),
        (("train", "it.cfg", "--labelled", "texts.txt", "-o", "other"), "D460"),
        (("train", "it.cfg", "--labelled", "trees.conllu", "-o", "other"), "D499"),
        (("train", "it.cfg", "--labelled", "all.json", "-o", "other"), "D499"),
        (("evaluate", "it.cfg", "--labelled", "ten.tsv", "--folds", "11"), "D464"),
        (("evaluate", "it.cfg", "--folds", "5"), "D465"),
        (("evaluate", "model", "--text", "texts.txt", "--labelled", "ten.tsv"), "D465"),
        (("evaluate", "model", "nowhere", "--labelled", "ten.tsv"), "D942"),
        (("evaluate", "model", "nowhere", "--lists", "lists.jsonl"), "D942"),
        (("evaluate", "model", ".", "--labelled", "ten.tsv"), "D525"),
        (("evaluate", "model", "texts.txt"), "D525"),
        (("evaluate", "model", "--text", "texts.txt"), "D463"),
        (("evaluate", "model"), "D600"),
    ],
)
def test_errors_are_one_line(labelled_folder, trained, arguments, code):
    done = run(labelled_folder, *arguments, status=2)
    assert f"[{code}]" in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert not (labelled_folder / "other").exists()


def test_configs_are_compared_in_folds(labelled_folder, trained):
    done = run(labelled_folder, "evaluate it.cfg it.cfg --labelled ten.tsv", status=2)
    assert "D525] it.cfg is not a model: to compare two configs on labelled examples, give" in done.stderr
    done = run(labelled_folder, "evaluate it.cfg it.cfg --labelled ten.tsv --folds 5")
    assert "in 5 folds:" in done.stdout and "only A 0, only B 0" in done.stdout
    done = run(labelled_folder, "evaluate it.cfg it.cfg --folds 5", status=2)
    assert "D465" in done.stderr


def test_the_curve_of_examples_with_one_label_says_so(labelled_folder, trained):
    lines = [f"Then [[it]] {what}.\treferential" for _, what in PAIRS]
    (labelled_folder / "one.tsv").write_text("\n".join(lines) + "\n", encoding="utf8")
    done = run(labelled_folder, "curve it.cfg --labelled one.tsv --draws 1")
    assert "repeats the baseline: all examples have the same label" in done.stdout


SPORT = "ball goal team match coach player referee stadium league trainer".split()
COOKING = "bread flour oven butter soup pan recipe onion dough sugar".split()
TOPICS = {"cooking": COOKING, "sport": SPORT}


def texts(label, n=15):
    words = TOPICS[label]
    for i in range(n):
        first, second, third = (words[(i * step + step) % 10] for step in (1, 3, 7))
        yield f"We spoke of the {first}.\n\nThe {second} was there, and a {third}! Number {i}.\n"


@pytest.fixture(scope="module")
def topic_folder(tmp_path_factory):
    topic_folder = tmp_path_factory.mktemp("topic")
    rows = [("text", "label")]
    for label in TOPICS:
        (topic_folder / "documents" / label).mkdir(parents=True)
        for number, text in enumerate(texts(label)):
            (topic_folder / "documents" / label / f"{number}.txt").write_text(text, encoding="utf8")
            rows.append((text, label))
    (topic_folder / "documents" / "sport" / "empty").write_text("")
    (topic_folder / "documents" / "sport" / "signs").write_text("?! ...")
    with open(topic_folder / "table.csv", "w", encoding="utf8", newline="") as file:
        csv.writer(file).writerows(rows)
    (topic_folder / "new.txt").write_text(
        "The referee had no whistle.\n\nShe left the stadium.\n", encoding="utf8"
    )
    return topic_folder


@pytest.fixture(scope="module")
def trained_topic(topic_folder):
    return run(topic_folder, "train topic --labelled documents --output topic")


def test_a_folder_of_folders_trains_without_a_config(topic_folder, trained_topic):
    assert "topic: topic, 1 of 1 group learned" in trained_topic.stderr
    assert "30 examples, most frequent candidate" in trained_topic.stderr
    assert "not used: documents/sport/empty: the task topic decides nothing at ''" in trained_topic.stderr
    assert 'labels = ["cooking","sport"]' in (topic_folder / "topic" / "config.cfg").read_text().replace(
        ", ", ","
    )
    card = (topic_folder / "topic" / "README.md").read_text(encoding="utf8")
    assert "*cooking* / *sport*" in card and "5-fold cross-validation over documents" in card


def test_a_table_trains_a_model_that_decides_the_same(topic_folder, trained_topic):
    run(topic_folder, "train topic --labelled table.csv --output table --no-test")
    output = []
    for model, call in (("topic", here), ("table", process)):
        done = call("annotate", "-", "--model", model, folder=topic_folder, given="The onion met the butter.")
        output.append(json.loads(done.stdout)["decisions"][0])
    assert output[0]["chosen"] == output[1]["chosen"] == "cooking"
    assert output[0]["found"] == output[1]["found"] == 4


@pytest.mark.parametrize("format", ["jsonl", "csv", "html", "conllu", "text"])
def test_documents_are_annotated_in_every_format(topic_folder, trained_topic, format):
    done = run(topic_folder, "annotate new.txt --model topic --format", format)
    assert "topic: 1 decision" in done.stderr
    if format == "jsonl":
        (decision,) = json.loads(done.stdout)["decisions"]
        assert (decision["start"], decision["end"], decision["chosen"]) == (0, 50, "sport")
    elif format == "text":
        assert re.fullmatch(
            r"new\.txt:1:1: The referee .* stadium\.: sport \(topic, [01]\.\d\d\)\n", done.stdout
        )
    else:
        assert "sport" in done.stdout
    if format == "html":
        assert done.stdout.count("She left the stadium.") == 2  # in the text and on the card


def test_the_model_is_evaluated_and_explained(topic_folder, trained_topic):
    done = run(topic_folder, "evaluate topic --labelled table.csv")
    assert re.match(r"30 examples in 30 documents\nmodel, topic: accuracy (9\d|100)\.\d\d%", done.stdout)
    assert "\n  cooking: precision" in done.stdout
    done = here("explain", "--model", "topic", "The referee saw zebras.", folder=topic_folder)
    assert "sport, with probability" in done.stdout
    assert "2 of 4 words occurred in training" in done.stdout
    assert any("referee" in line and "+" in line for line in done.stdout.splitlines())


def test_the_config_is_validated_and_gives_a_curve(topic_folder):
    config = run(topic_folder, "train topic --example").stdout
    (topic_folder / "my.cfg").write_text(
        config.replace("n_subspaces = 25", "n_subspaces = 2"), encoding="utf8"
    )
    done = run(topic_folder, "evaluate my.cfg --labelled documents --folds 3")
    assert "30 examples in 30 documents, 3 folds, 2 not used" in done.stdout
    assert "majority, topic" in done.stdout and "unsupervised" not in done.stdout
    done = run(topic_folder, "curve my.cfg --labelled table.csv --sizes 10 --draws 1")
    assert "most frequent (" in done.stdout


def test_a_model_that_cannot_be_tested_is_kept(topic_folder):
    (topic_folder / "two.csv").write_text(
        "text,label\nA ball in the net.,sport\nBread in the oven.,cooking\n"
    )
    done = run(topic_folder, "train topic --labelled two.csv --output two")
    assert "note: not tested: [D475] no word occurs in at least 2 of the 1 texts" in done.stderr
    card = (topic_folder / "two" / "README.md").read_text(encoding="utf8")
    assert "* not tested: [D475]" in card and "No figures are stored" in card


SHORE = ["the muddy {} of the river", "a grassy {} by the stream", "fishing from the {} at dusk"]


SHORE.append("the left {} of a river")


MONEY = [
    "the {} lent me money",
    "an account at the {}",
    "the {} raised its interest",
    "a loan from our {} today",
]


def places():
    """Yield text before and behind the word, the word and its sense."""
    for number in range(6):
        for sense, texts in (("shore", SHORE), ("money", MONEY)):
            for i, text in enumerate(texts):
                before, after = text.split("{}")
                yield (
                    f"On day {number} {before}",
                    f"{after}.",
                    ("bank", "banks")[(i + number) % 4 == 0],
                    sense,
                )


def xml(rows, *, answers=True):
    """Return the lexical sample of rows, every third one without a sense that is right."""
    lines = ['<?xml version="1.0" encoding="iso-8859-1"?>', "<corpus>", '<lexelt item="bank.n">']
    for number, (before, after, word, sense) in enumerate(rows):
        name = f"bank.n.{number}"
        lines += (
            [f'<instance id="{name}">', f'<answer instance="{name}" senseid="{sense}"/>'] if answers else []
        )
        lines += [] if answers else [f'<instance id="{name}">']
        lines += ["<context>", f"{before}<head>{word}</head>{after}", "</context>", "</instance>"]
    return "\n".join([*lines, "</lexelt>", "</corpus>"])


@pytest.fixture(scope="module")
def sense_folder(tmp_path_factory):
    sense_folder = tmp_path_factory.mktemp("senses")
    rows = list(places())
    pairs = [f"{before}[[{word}]]{after}\t{sense}" for before, after, word, sense in rows]
    (sense_folder / "my_words.tsv").write_text("\n".join(pairs) + "\n")
    (sense_folder / "train.xml").write_text(xml(rows[:40]))
    (sense_folder / "test.xml").write_text(xml(rows[40:], answers=False))
    key = [f"bank bank.n.{n} {sense}" for n, (*_, sense) in enumerate(rows[40:])]
    key[0] = "bank bank.n.0 U P"
    (sense_folder / "key").write_text("\n".join([*key, "chair chair.1 seat"]))
    (sense_folder / "map").write_text("shore 2 place\nmoney 2 place\nU 2 place\nplace\n")
    (sense_folder / "new.txt").write_text(
        "The banks raised my account. We sat on the bank of the river. It is banking.\n"
    )
    return sense_folder


@pytest.fixture(scope="module")
def trained_senses(sense_folder):
    return run(sense_folder, "train sense --labelled my_words.tsv --output my_senses")


def test_two_columns_are_enough(sense_folder, trained_senses):
    assert "sense, 1 of 1 group learned" in trained_senses.stderr
    assert "48 examples, most frequent candidate" in trained_senses.stderr
    result = run(sense_folder, "annotate new.txt --model my_senses --format jsonl")
    decisions = json.loads(result.stdout)["decisions"]
    assert [(item["group"], item["observed"], item["chosen"]) for item in decisions] == [
        ("bank", "banks", "money"),
        ("bank", "bank", "shore"),
    ]


def test_senseval_gets_its_score(sense_folder):
    run(sense_folder, "train sense --labelled train.xml --output s2 --no-test")
    options = ["--labelled", "test.xml", "--key", "key", "--sensemap", "map"]
    shown = run(sense_folder, "evaluate", "s2", *options).stdout
    assert (
        "7 examples in 7 documents\n1 more example with labels unknown to the model: counted as wrong"
        in shown
    )
    result = json.loads(run(sense_folder, "evaluate", "s2", *options, "--json").stdout)["senseval"]
    fine, coarse = result["fine"], result["coarse"]
    assert fine["n"] == coarse["n"] == 9  # the key's other word is not attempted
    assert fine["tried"] == coarse["tried"] == 8
    assert fine["right"] == 7 and coarse["right"] == 8
    assert f"Senseval, fine: precision {7 / 8:.3f}, recall {7 / 9:.3f}, attempted 88.9% of 9" in shown


def test_a_broken_instance_is_a_note_or_stops(sense_folder):
    text = (sense_folder / "train.xml").read_text().replace("<head>bank</head>", "bank", 1)
    (sense_folder / "broken.xml").write_text(text)
    options = ["--labelled", "broken.xml", "--output", "other", "--no-test"]
    noted = run(sense_folder, "train", "sense", *options)
    assert noted.stderr.startswith("note: [D488] broken.xml, line 10: the target of 'bank.n.1'")
    assert "D488" in run(sense_folder, "train", "sense", *options, "--force", "--strict", status=2).stderr
    refused = run(sense_folder, "evaluate other --labelled broken.xml --strict", status=2)
    assert "broken.xml, line 10" in refused.stderr


def test_unscored_instances_are_reported(sense_folder, trained_senses):
    rows = ["text,label,word", "the muddy [[bank]] of a river,shore,bank"]
    (sense_folder / "fine.csv").write_text("\n".join([*rows, "the [[cow]] slept,animal,cow"]))
    result = run(sense_folder, "evaluate my_senses --labelled fine.csv --strict")
    assert result.stdout.splitlines()[:3] == [
        "1 example in 1 document",
        "1 more example of words unknown to the model: not attempted",
        "model, all: accuracy 50.00% (9.45% to 90.55%), attempted 50.00%",
    ]
    broken = ["the [[bank]] shot,billiards,bank", "a [[bank]] of clouds,row,bank"]
    (sense_folder / "broken.csv").write_text("\n".join([*rows, *broken]))
    result = run(sense_folder, "evaluate my_senses --labelled broken.csv")
    assert "1 example in 1 document\n2 more examples with labels unknown to the model" in result.stdout
    left_out = "2 left out (2: the label ... is not one of ...)"
    assert result.stderr == f"read 3 examples: 1 used, {left_out}\n"
    refused = run(sense_folder, "evaluate my_senses --labelled broken.csv --strict", status=2)
    assert "broken.csv, line 3: the label 'billiards'" in refused.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--labelled test.xml", "[D461] test.xml contains no labelled example; if the answers"),
        ("--labelled test.xml --sensemap map", "--sensemap requires --key"),
        ("--labelled test.xml --key other.key", "[D497]"),
        ("--text new.txt --sensemap map", "--sensemap cannot be used with --text (one model); it is for"),
        ("--text new.txt --key key", "--key cannot be used with --text (one model); it is for --labelled"),
    ],
)
def test_keys_and_sense_maps_belong_to_labelled_examples(sense_folder, trained_senses, options, problem):
    (sense_folder / "other.key").write_text("chair chair.1 seat\n")
    assert problem in run(sense_folder, "evaluate my_senses", options, status=2).stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--text", "a.txt", "--labelled", "b.tsv"], "--text cannot be used with --labelled"),
        (["--lists", "c.jsonl", "--strict"], "--strict cannot be used with --lists; it is for --labelled"),
        (["--labelled", "b.tsv", "--lines"], "--lines cannot be used with --labelled; it is for --text"),
    ],
)
def test_options_that_would_be_ignored_are_refused(tmp_path, options, problem):
    done = here("train", "topic", "--output", "model", *options, folder=tmp_path)
    assert done.returncode == 2 and problem in done.stderr


def test_words_with_few_examples_are_listed(tmp_path):
    words = ["light", "note", "plant", "spring", "match"]
    pairs = [f"Once a [[{word}]] number {n}.\tsense {n}" for word in words for n in range(2)]
    (tmp_path / "few.tsv").write_text("\n".join(pairs) + "\n")
    done = run(tmp_path, "train sense --labelled few.tsv --output few --no-test")
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert sum("too few examples to learn from" in note for note in notes) == 3
    assert any(note == "note: ... and 2 more groups like these" for note in notes)


def test_words_that_were_not_learned_are_named(tmp_path):
    pairs = [
        f"They saw number {4 * n + i} of a [[{word}]].\t{sense}"
        for n in range(12)
        for i, (word, sense) in enumerate(WORDS)
    ]
    (tmp_path / "noise.tsv").write_text("\n".join(pairs) + "\n")
    done = run(tmp_path, "train sense --labelled noise.tsv --output noise --no-test")
    assert "note: plant: in cross-validation no better than" in done.stderr
    assert "note: match: in cross-validation" not in done.stderr


WORDS = [("plant", "factory"), ("plant", "flora"), ("match", "game"), ("matches", "fire")]
