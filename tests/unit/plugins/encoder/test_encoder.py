"""The encoder: its graph against NumPy, word pieces, evidence for corrections, states, errors."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from math import erf
from types import SimpleNamespace

import numpy as np
import pytest
from disambig_encoder import (
    EVIDENCE,
    LABELS,
    CandidateOdds,
    Encoder,
    EncoderEvidence,
    EncoderStates,
    WhitenedStates,
    WordPieces,
    is_unused,
    sentence_around,
    split_words,
    unused_piece,
    whitening_matrix,
    write_encoder,
)
from disambig_real_words import Article, Doubled
from disambig_variance_svm import Spelling

from disambig.api import Group, GroupedInstances, UserError, Words
from disambig.api.text import view_of_texts
from disambig.features import transform_checked
from disambig.testing import check_extractor

HEADS, WIDTH, LAYERS = 2, 16, 2
WORDS = "the a an has have shop site already they and is are ' s ##s ##ing go . , in café cafe no".split()
VOCABULARY = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]


def random_weights(seed=0, scale=0.4):
    rng = np.random.default_rng(seed)
    shapes = {"pieces.weight": (len(VOCABULARY), WIDTH), "positions.weight": (128, WIDTH)}
    shapes["piece_bias"] = (len(VOCABULARY),)
    linear = {"mistakes.0": (WIDTH, WIDTH), "mistakes.2": (4, WIDTH), "word.0": (WIDTH, WIDTH)}
    linear["gap.0"] = (WIDTH, WIDTH)
    norms = ["norm", "word.2", "gap.2"]
    for i in range(LAYERS):
        linear |= {f"layers.{i}.qkv": (3 * WIDTH, WIDTH), f"layers.{i}.out": (WIDTH, WIDTH)}
        linear |= {f"layers.{i}.up": (4 * WIDTH, WIDTH), f"layers.{i}.down": (WIDTH, 4 * WIDTH)}
        norms += [f"layers.{i}.norm1", f"layers.{i}.norm2"]
    for name, shape in linear.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    weights = {name: rng.normal(scale=scale, size=shape) for name, shape in shapes.items()}
    for name in norms:
        weights[f"{name}.weight"] = 1 + 0.1 * rng.normal(size=WIDTH)
        weights[f"{name}.bias"] = 0.1 * rng.normal(size=WIDTH)
    return weights


class Reference:
    """The encoder of one sentence, in NumPy."""

    def __init__(self, weights):
        self.w = weights

    def linear(self, x, name):
        return x @ self.w[f"{name}.weight"].T + self.w[f"{name}.bias"]

    def norm(self, x, name, epsilon=1e-12):
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + epsilon)
        return x * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def states(self, ids):
        x = self.norm(self.w["pieces.weight"][ids] + self.w["positions.weight"][: len(ids)], "norm")
        for i in range(LAYERS):
            q, k, v = np.split(self.linear(x, f"layers.{i}.qkv"), 3, axis=1)
            mixed = []
            for part in np.split(np.arange(WIDTH), HEADS):
                scores = q[:, part] @ k[:, part].T / np.sqrt(len(part))
                shares = np.exp(scores - scores.max(axis=1, keepdims=True))
                mixed.append(shares / shares.sum(axis=1, keepdims=True) @ v[:, part])
            x = x + self.linear(np.concatenate(mixed, axis=1), f"layers.{i}.out")
            x = self.norm(x, f"layers.{i}.norm1")
            up = gelu(self.linear(x, f"layers.{i}.up"))
            x = self.norm(x + self.linear(up, f"layers.{i}.down"), f"layers.{i}.norm2")
        return x

    def labels(self, ids, place):
        hidden = gelu(self.linear(self.states(ids)[place], "mistakes.0"))
        scores = self.linear(hidden, "mistakes.2")
        return scores - np.log(np.exp(scores).sum())

    def gain(self, ids, place, head, old, new):
        hidden = self.norm(gelu(self.linear(self.states(ids)[place], f"{head}.0")), f"{head}.2", 1e-5)
        scores = self.w["pieces.weight"] @ hidden + self.w["piece_bias"]
        return scores[new] - scores[old]


def gelu(x):
    return x * (1 + np.vectorize(erf)(x / np.sqrt(2))) / 2


def piece_ids(*words):
    return [3, *(VOCABULARY.index(word) for word in words), 4]


def odds(labels):
    return np.log(np.exp(labels[1:]).sum()) - labels[0]


@pytest.fixture(scope="module")
def weights():
    return random_weights()


@pytest.fixture(scope="module", params=[32, 8])
def encoder_and_tolerance(request, weights, tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    write_encoder(folder, weights, VOCABULARY, heads=HEADS, bits=request.param)
    return Encoder.load(folder), 1e-4 if request.param == 32 else 0.25


@pytest.fixture(scope="module")
def folder(weights, tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    write_encoder(folder, weights, VOCABULARY, heads=HEADS, details={"licence": "none"})
    return folder


def test_labels_equal_the_reference(encoder_and_tolerance, weights):
    encoder, near = encoder_and_tolerance
    texts = ["The site already have a shop.", "They go."]
    scores = encoder.error_scores([*texts, texts[0]], [(17, 21), (5, 7), (22, 22)])
    reference = Reference(weights)
    long, short = (piece_ids(*text.split()) for text in ("the site already have a shop .", "they go ."))
    expected = [reference.labels(*place) for place in ((long, 4), (short, 2), (long, 5))]
    assert scores == pytest.approx(np.array(expected), abs=near)
    assert scores.shape == (3, len(LABELS))
    assert np.exp(scores).sum(axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "edit", "written", "corrected", "kind"),
    [
        ("The site have a shop.", (9, 13, "has"), "the site have a shop .", "the site has a shop .", 1),
        ("They go the in.", (8, 11, ""), "they go the in .", "they go in .", 2),
        ("They go in shop.", (11, 11, "the "), "they go in shop .", "they go in the shop .", 3),
        ("They and", (8, 8, " go"), "they and", "they and go", 3),
    ],
    ids=["replaced", "removed", "inserted", "inserted at the end"],
)
def test_evidence_equals_the_reference(encoder_and_tolerance, weights, text, edit, written, corrected, kind):
    encoder, near = encoder_and_tolerance
    (evidence,) = encoder.compare([text], [edit])
    reference = Reference(weights)
    before, after = piece_ids(*written.split()), piece_ids(*corrected.split())
    place = next(i for i, (old, new) in enumerate(zip(before, after, strict=False)) if old != new)
    old, new = before[place] if kind < 3 else 1, after[place] if kind != 2 else 1
    heads = ("gap" if kind == 3 else "word", "gap" if kind == 2 else "word")
    labels = reference.labels(before, place)
    expected = [
        odds(labels),
        odds(reference.labels(after, place)),
        labels[kind] - labels[0],
        reference.gain(before, place, heads[0], old, new),
        reference.gain(after, place, heads[1], old, new),
    ]
    assert evidence == pytest.approx(np.array(expected), abs=4 * near)
    assert len(EVIDENCE) == 5


def test_evidence_is_independent_of_the_batch(folder):
    encoder = Encoder.load(folder)
    texts = ["They go.", "The site already have a shop and they are in the café, no?", "A shop is no shop."]
    edits = [(5, 7, "has"), (17, 21, "has"), (0, 1, "the")]
    together = encoder.compare(texts * 40, edits * 40)
    alone = np.concatenate([encoder.compare([text], [edit]) for text, edit in zip(texts, edits, strict=True)])
    assert together == pytest.approx(np.tile(alone, (40, 1)), abs=1e-5)
    replaced = encoder.error_scores(["They go in.", "They go."], [(5, 7), (5, 5)], ["have", "is "])
    written = encoder.error_scores(["They have in.", "They is go."], [(5, 9), (5, 7)])
    assert replaced == pytest.approx(written, abs=1e-6)


def test_only_the_sentence_counts(folder):
    encoder = Encoder.load(folder)
    one = encoder.compare(["They have a shop."], [(5, 9, "has")])
    text = "A site is a site. They have a shop. The site is a shop."
    assert encoder.compare([text], [(23, 27, "has")]) == pytest.approx(one, abs=1e-6)
    listed = "# The site\n- a site is\n- They have a shop.\n\nThe site is"
    start = listed.index("have")
    assert encoder.compare([listed], [(start, start + 4, "has")]) == pytest.approx(one, abs=1e-6)


def test_long_sentences_are_cut(folder):
    encoder = Encoder.load(folder)
    text = "shop the site is in a shop and they go in the site and " * 400
    place = text.index("they", len(text) // 2)
    evidence = encoder.compare([text], [(place, place + 4, "the")])
    nearby = text[place - 400 : place + 400]
    assert evidence == pytest.approx(encoder.compare([nearby], [(400, 404, "the")]), abs=1e-6)
    long = "xq" * 200 + " they " + "zzz-zzz-" * 300
    assert np.isfinite(encoder.compare([long], [(401, 405, "the")])).all()
    assert np.isfinite(encoder.compare(["they"], [(0, 4, "a-" * 500)])).all()


def test_no_edits_and_sentences_around_them(folder):
    encoder = Encoder.load(folder)
    assert encoder.details["licence"] == "none"
    assert encoder.compare([], []).shape == (0, 5)
    assert encoder.error_scores([], []).shape == (0, 4)
    assert (encoder.compare(["They go.", ""], [(4, 5, ""), (0, 0, " ")]) == 0).all()
    text = "A site. Is it one? Yes: they go.\n\n* one\n* two"
    parts = {text[slice(*sentence_around(text, i, i))] for i in range(len(text))}
    assert {"A site.", "Is it one?", "they go.", "one", "two"} <= parts | {"they go."}
    assert text[slice(*sentence_around(text, 8, 10))] == "Is it one?"


def test_word_pieces():
    pieces = WordPieces(VOCABULARY)

    def split(word):
        return [VOCABULARY[number] for number in pieces(word)]

    assert split("Shops") == ["shop", "##s"]
    assert split("It's") == ["[UNK]", "'", "s"]
    assert split("Café") == split("cafe\u0301") == ["cafe"]  # accents are removed before the look-up
    assert split("go_in") == ["go", "[UNK]", "in"]
    assert split("going\u200b") == ["go", "##ing"]
    assert split("shopx") == split("s" * 101) == split("\u200b") == ["[UNK]"]
    assert split("\u4e2dgo") == ["[UNK]", "go"]
    pieces = WordPieces([*VOCABULARY, unused_piece(7)])
    assert is_unused(unused_piece(7)) and not is_unused("[unused0]") and not is_unused("unused7")
    assert all(len(VOCABULARY) not in pieces(word) for word in split_words("[unused7] unused7"))


def test_invalid_vocabularies(weights, tmp_path):
    for vocabulary, problem in ((VOCABULARY[1:], r"missing: \[PAD\]"), (["a", *VOCABULARY], "not the first")):
        with pytest.raises(ValueError, match=problem):
            WordPieces(vocabulary)
    with pytest.raises(ValueError, match="28 word pieces, but 29 embeddings"):
        write_encoder(tmp_path, weights, VOCABULARY[:-1], heads=HEADS)


def damage_graph(folder):
    path = folder / "encoder.onnx"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def shorten_vocabulary(folder):
    path = folder / "vocab.txt"
    path.write_text(path.read_text().partition("\n")[2])


def change_manifest(folder, **changes):
    path = folder / "encoder.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def replace_graph(folder, content):
    """Replace the graph, and update the manifest."""
    (folder / "encoder.onnx").write_bytes(content)
    files = json.loads((folder / "encoder.json").read_text())["files"]
    details = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    change_manifest(folder, files={**files, "encoder.onnx": details})


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (damage_graph, "encoder.onnx: its SHA-256 differs from the manifest"),
        (shorten_vocabulary, "vocab.txt: expected [0-9]+ bytes"),
        (lambda folder: change_manifest(folder, format=9), "format 9, expected 2"),
        (lambda folder: (folder / "encoder.json").unlink(), "No such file"),
        (lambda folder: (folder / "encoder.json").write_text("[]"), "TypeError"),
        (lambda folder: (folder / "encoder.json").write_text("{}"), "KeyError"),
        (lambda folder: replace_graph(folder, b"no graph"), "protobuf|Protobuf|Load model"),
    ],
    ids=["graph", "vocabulary", "format", "no manifest", "list", "empty", "no graph"],
)
def test_damaged_folders(weights, tmp_path, damage, problem):
    write_encoder(tmp_path, weights, VOCABULARY, heads=HEADS)
    damage(tmp_path)
    with pytest.raises(UserError, match=rf"D748.*({problem})") as caught:
        Encoder.load(tmp_path)
    assert "\n" not in str(caught.value)


SUPPRESS_TELEMETRY = {"ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "CI", "GITHUB_ACTIONS"}
"""Variables with which onnxruntime itself sends nothing."""


def test_onnxruntime_is_missing_or_not_imported(folder):
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from disambig.api import UserError\nfrom disambig_encoder import Encoder\n"
        f"try: Encoder.load({str(folder)!r})\nexcept UserError as error: print(error)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "D747" in printed and "pip install 'onnxruntime>=1.20'" in printed
    imports = "import sys, disambig_encoder.encoder, disambig_encoder.evidence"
    code = f"{imports}; assert 'onnxruntime' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_onnxruntime_sends_nothing(folder, tmp_path):
    """Its telemetry leaves an identifier of the machine in the home directory, and warns if it cannot."""
    code = (
        f"from disambig_encoder import Encoder\nEncoder.load({str(folder)!r}).error_scores(['a b'], [(0, 1)])"
    )
    environment = {name: value for name, value in os.environ.items() if name not in SUPPRESS_TELEMETRY}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in tmp_path.rglob("*onnxruntime*")] == []


HAVE = Group("has/have", ("has", "have"))
TASK = Spelling().of_groups([HAVE])


def instances_in(texts):
    view = view_of_texts(texts, Words())
    return view, TASK.instances(view)


TEXTS = ["The site have a shop. They has a shop.", "They have no shop and the site has a shop."]


def test_evidence_of_candidates(folder):
    view, instances = instances_in(TEXTS[:1])
    extractor = EncoderEvidence(folder=folder).fit(view, instances, [HAVE])
    features = transform_checked(extractor, view, instances, HAVE)
    rows = features.batch.values.reshape(4, 5)  # has, have; has, have
    assert (rows[[1, 2]] == 0).all()
    expected = Encoder.load(folder).compare([*view.texts] * 2, [(9, 13, "has"), (27, 30, "have")])
    assert rows[[0, 3]] == pytest.approx(expected, abs=1e-5)
    assert features.batch.columns.names == EVIDENCE


def test_odds_of_candidates_do_not_depend_on_what_is_written(folder):
    rows = []
    for text in ("The site have a shop.", "The site has a shop."):
        view, instances = instances_in([text])
        extractor = CandidateOdds(folder=folder).fit(view, instances, [HAVE])
        features = transform_checked(extractor, view, instances, HAVE)
        rows.append(features.batch.values.reshape(2))
        assert features.n_hits.tolist() == [1, 1]
    texts = ["The site has a shop.", "The site have a shop."]
    labels = Encoder.load(folder).error_scores(texts, [(9, 12), (9, 13)])
    right = np.exp(labels[:, 0].astype(float))
    assert rows[0] == pytest.approx(np.log(right / (1 - right)), abs=1e-4)
    assert rows[1] == pytest.approx(rows[0], abs=1e-6)


CONTRACTS = {
    "odds": (CandidateOdds, TASK),
    "odds of lists with gaps": (CandidateOdds, Article()),
    "groups": (EncoderEvidence, TASK),
    "lists with gaps": (EncoderEvidence, Article()),
    "removals": (EncoderEvidence, Doubled()),
    "states": (EncoderStates, TASK),
    "whitened states": (WhitenedStates, TASK),
}


@pytest.mark.parametrize(("extractor", "task"), CONTRACTS.values(), ids=CONTRACTS)
def test_contract(folder, extractor, task):
    for check in check_extractor(extractor(folder=folder), task, [*TEXTS, "They go in in the shop."]):
        check()


def test_packs_and_models_share_an_encoder(folder, tmp_path, monkeypatch):
    one, other = EncoderEvidence(folder=folder), EncoderEvidence(folder=str(folder))
    assert one.encoder is other.encoder
    assert EncoderEvidence(folder=folder, threads=2).encoder is not one.encoder
    packs = {"en_encoder": SimpleNamespace(folders={"encoder": folder}), "other": SimpleNamespace(folders={})}
    monkeypatch.setattr("disambig_encoder.encoder.find_pack", packs.get)
    assert Encoder.load("en_encoder").details == one.encoder.details
    assert EncoderEvidence(folder="en_encoder").encoder.compare([], []).shape == (0, 5)
    with pytest.raises(UserError, match=r"D748.*other"):
        EncoderEvidence(folder="other").encoder.compare([], [])


def test_answers_are_kept(folder, monkeypatch):
    """Verification asks for the same sentences again."""

    class CountedSession:
        sentences = 0

        def __init__(self):
            self.session = pytest.importorskip("onnxruntime").InferenceSession(str(folder / "encoder.onnx"))

        def run(self, outputs, inputs):
            CountedSession.sentences += len(inputs["ids"])
            return self.session.run(outputs, inputs)

    encoder = Encoder(CountedSession(), WordPieces.from_file(folder / "vocab.txt"), {})
    texts, edits = ["They have a shop.", "They go."], [(5, 9, "has"), (5, 7, "is")]
    evidence = encoder.compare(texts, edits)
    assert CountedSession.sentences == 4
    assert (encoder.compare(texts, edits) == evidence).all()
    assert (encoder.compare(texts[1:], edits[1:]) == evidence[1:]).all()
    assert CountedSession.sentences == 4
    monkeypatch.setattr("disambig_encoder.encoder.MAX_ANSWERS", 2)
    assert (encoder.compare([texts[0], "No shop."], [edits[0], (3, 7, "go")])[0] == evidence[0]).all()
    assert CountedSession.sentences == 6
    assert (encoder.compare(texts, edits) == evidence).all()
    assert CountedSession.sentences == 10


def test_states_equal_the_reference(weights, folder):
    states = Encoder.load(folder).states(["They have a shop."], [(5, 9)])
    ids = [VOCABULARY.index(piece) for piece in ("[CLS]", "they", "have", "a", "shop", ".", "[SEP]")]
    assert states[0] == pytest.approx(Reference(weights).states(ids)[2], abs=0.2)
    encoder = Encoder.load(folder)
    encoder.most_kept = 1
    texts, spans = ["They have a shop.", "They go."], [(5, 9), (5, 7)]
    states = encoder.states(texts, spans)
    assert (encoder.states(texts, spans) == states).all()
    assert encoder.n_kept == 1


def test_states_of_candidates(folder):
    view, instances = instances_in(TEXTS)
    extractor = EncoderStates(folder=folder, scale=2.0).fit(view, instances, [HAVE])
    values = transform_checked(extractor, view, instances, HAVE).batch.values
    assert values.shape == (4, 2, WIDTH) and (values[:, 0] == values[:, 1]).all()
    assert values[:, 0].mean(axis=0) == pytest.approx(np.zeros(WIDTH), abs=1e-5)
    assert values[:, 0].std(axis=0) == pytest.approx(np.full(WIDTH, 2.0), abs=1e-4)
    again = EncoderStates(folder=folder, scale=2.0).from_state(extractor.state())
    assert (transform_checked(again, view, instances, HAVE).batch.values == values).all()
    assert extractor.encoder.n_kept == 4
    with pytest.raises(UserError, match="D760"):
        EncoderStates(folder=folder, scale=0.0)
    with pytest.raises(ValueError, match="do not fit"):
        extractor.from_state({"centre": np.zeros(3), "spread": np.ones(2)})


def test_fitting_keeps_the_states_of_all_instances(folder, monkeypatch):
    """Otherwise cross-validation would read each sentence again in every fold."""
    monkeypatch.setattr("disambig_encoder.encoder.MAX_KEPT", 1)
    view, instances = instances_in(TEXTS)
    extractor = EncoderStates(folder=folder, threads=3)
    assert extractor.encoder.most_kept == 1
    extractor.fit(view, instances, [HAVE])
    assert extractor.encoder.n_kept == len(instances) > 1


def fit_whitened_states(folder):
    """Return states fitted to the instances of two groups, the view and the instances."""
    other = Group("car/care", ("car", "care"))
    task = Spelling().of_groups([HAVE, other])
    texts = [*TEXTS, "A car has a price.", "They take care of the car.", "The care they have is good."]
    view = view_of_texts(texts, Words())
    instances = task.instances(view)
    return WhitenedStates(folder=folder).fit(view, instances, task.groups), view, instances, task.groups


def test_whitened_states(folder):
    extractor, view, instances, groups = fit_whitened_states(folder)
    of_groups = [(instances.take(instances.groups == g), group) for g, group in enumerate(groups)]
    table = GroupedInstances.from_parts(of_groups)
    parts = extractor.transform(view, table)
    expected = [(int((instances.groups == g).sum()), WIDTH) for g in range(2)]
    assert [part.batch.rows.shape for part in parts] == expected
    assert all(len(part.batch.columns) == 2 * WIDTH for part in parts)
    rows = np.vstack([part.batch.rows.toarray() for part in parts])
    assert rows.mean(axis=0) == pytest.approx(np.zeros(WIDTH), abs=0.02)
    alone = transform_checked(extractor, view, table.parts[1][0], groups[1]).batch.rows
    assert alone.toarray() == pytest.approx(parts[1].batch.rows.toarray(), abs=1e-4)
    part = instances.take(instances.groups == 0)
    rows = transform_checked(extractor, view, part, groups[0]).batch.rows
    again = WhitenedStates(folder=folder).from_state(extractor.state())
    assert (transform_checked(again, view, part, groups[0]).batch.rows != rows).nnz == 0
    with pytest.raises(ValueError, match="do not fit"):
        extractor.from_state({"centre": np.zeros(3), "whitening": np.ones((2, 2))})
    with pytest.raises(ValueError, match="not fitted"):
        WhitenedStates(folder=folder).state()


def test_whitening_matrix():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 600)
    mixed = rng.normal(size=(600, 4)) @ np.array([[9, 1, 0, 0], [0, 2, 0, 1], [0, 0, 1, 0], [3, 0, 0, 1.0]])
    states = (mixed + 50 * groups[:, None]).astype(np.float32)  # differences between groups do not count
    white = states @ whitening_matrix(states, groups)
    for group in range(3):
        values = np.linalg.eigvalsh(np.cov(white[groups == group].T))
        assert values.max() / values.min() < 60 < np.linalg.cond(np.cov(mixed.T))


def test_an_encoder_without_states(folder, tmp_path):
    onnx = pytest.importorskip("onnx")
    graph = onnx.load(folder / "encoder.onnx")
    del graph.graph.output[[output.name for output in graph.graph.output].index("states")]
    shutil.copytree(folder, tmp_path / "old")
    replace_graph(tmp_path / "old", graph.SerializeToString())
    with pytest.raises(UserError, match="D520"):
        Encoder.load(tmp_path / "old").states(["They have."], [(5, 9)])
