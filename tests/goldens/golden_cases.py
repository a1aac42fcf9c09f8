"""The golden cases: small outputs, without messages for people, of public functions and commands."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent, HERE.parent / "integration"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import golden_packs  # noqa: E402, F401
from golden_forms import (  # noqa: E402
    CASES,
    CONVERTER,
    HIDDEN,
    MODELS,
    PARSER,
    ROOT,
    Files,
    as_json,
    as_lines,
    doc_rows,
    figures,
    golden,
    layout,
    page,
    run,
)
from golden_texts import NEW, PARAGRAPHS, configs, write_inputs  # noqa: E402

import disambig  # noqa: E402


@golden("annotate")
def annotate(home: Path) -> Files:
    files = {}
    for format in ("text", "corrected", "csv", "tsv", "conllu", "m2"):
        text = "notes.txt" if format in ("text", "corrected") else "short.txt"
        files[f"notes.{format}"] = run(
            home, "annotate", text, "--format", format, "--flags-per-1000", "5", "-q"
        )
    made = run(home, "annotate", "notes.txt", "notes.jsonl", "notes.conllu", "--format", "jsonl", "-q")
    files["all.jsonl"] = as_lines(json.loads(line) for line in made.splitlines())
    made = run(home, "annotate", "short.txt", "--format", "jsonl", "--only-flags", "--no-text", "-q")
    files["flags.jsonl"] = as_lines(json.loads(line) for line in made.splitlines())
    files["notes.html"] = page(run(home, "annotate", "short.txt", "--format", "html", "-q"))
    from pyarrow import parquet
    from spacy.lang.en import English
    from spacy.tokens import DocBin

    run(home, "annotate", "short.txt", "--output", "out.parquet", "-q", "--force")
    files["notes.parquet"] = as_lines(parquet.read_table(home / "out.parquet").to_pylist())
    run(home, "annotate", "short.txt", "--output", "out.spacy", "-q", "--force")
    bin_of_docs = DocBin().from_disk(home / "out.spacy")
    files["notes.spacy"] = as_lines(doc_rows(doc) for doc in bin_of_docs.get_docs(English().vocab))
    return files


@golden("check")
def check(home: Path) -> Files:
    files: Files = {}
    sources = ("notes.txt", "notes.md", "notes.tex", "notes_code.py")
    files["text"] = run(home, "check", *sources, "-q")
    sources = ("notes.tex", "notes_code.py")
    for format in ("json", "sarif", "gitlab", "rdjson"):
        made = run(home, "check", *sources, "--format", format, "-q")
        files[f"{format}.json"] = as_json(json.loads(made))
    for format in ("junit", "checkstyle"):
        files[f"{format}.xml"] = run(home, "check", *sources, "--format", format, "-q")
    made = run(home, "check", "notes.md", "--format", "json", "--evidence", "-q")
    files["evidence.json"] = as_json(json.loads(made))
    made = run(home, "check", "notes.md", "--format", "jsonl", "-q")
    files["jsonl.jsonl"] = as_lines(json.loads(line) for line in made.splitlines())
    github = run(home, "check", *sources, "--format", "github", "-q")
    files["github"] = re.sub(r"^(::notice [^:]*)::.*$", rf"\1::{HIDDEN}", github, flags=re.M)
    files["diff"] = run(home, "check", *sources, "--diff", "-q")
    files["phrases"] = run(home, "check", "phrases.txt", "-q")
    files["phrases.diff"] = run(home, "check", "phrases.txt", "--diff", "-q")
    files["trust"] = run(home, "check", "notes.txt", "--trust", "4/5", "-q")
    files["most"] = run(home, "check", "notes.txt", "--max-flags-per-1000", "20", "-q")
    run(home, "check", "notes.txt", "--write-baseline", "base.json", "-q")
    files["baseline.json"] = as_json(json.loads((home / "base.json").read_text(encoding="utf8")))
    shutil.copy(home / "notes.md", home / "fixed.md")
    run(home, "check", "fixed.md", "--fix", "-q")
    files["fix.md"] = (home / "fixed.md").read_text(encoding="utf8")
    return files


@golden("explain")
def explain(home: Path) -> Files:
    return {"all": figures(run(home, "explain", PARAGRAPHS[0], "--top", "3", "-q"))}


@golden("parse")
def parse(home: Path) -> Files:
    """Parse by the shipped parser, and write the other formats by a small one."""
    files = {"brackets": run(home, "parse", "plain.txt", "--model", PARSER, "-q")}
    files["nbest"] = run(home, "parse", "plain.txt", "--model", PARSER, "-n", "3", "-q")
    small = ("parse", "plain.txt", "--model", MODELS / "parser", "-q", "--format")
    files |= {format: run(home, *small, format) for format in ("indented", "jsonl")}
    files["tree"] = run(home, *small, "tree", "--width", "120")
    files["html"] = page(run(home, *small, "html"))
    return files


@golden("convert", slow=True)
def convert(home: Path) -> Files:
    command = ("convert", "kana.txt", "--model", CONVERTER, "-q")
    files = {"text": run(home, *command), "nbest": run(home, *command, "--nbest", "3")}
    files["plain"] = run(home, *command, "--no-rerank", "--nbest", "2", "--domain", "novels")
    made = run(home, *command, "--format", "jsonl", "--nbest", "3")
    files["lists.jsonl"] = as_lines(json.loads(line) for line in made.splitlines())
    return files


def build_counts(home: Path) -> None:
    """Count the small texts, unless that is done."""
    if not (home / "it.counts").exists():
        run(home, "counts", "build", "words.txt", "--output", "words.counts", "-q")
        view = "variance_svm.NormalisedWords.v1"
        run(
            home, "counts", "build", "it.txt", "--gaps", "--tokenisation", view, "--output", "it.counts", "-q"
        )


@golden("counts")
def counts(home: Path) -> Files:
    build_counts(home)
    files = {}
    for name in ("words.counts", "it.counts"):
        path = home / name
        parts = sorted(path.rglob("*")) if path.is_dir() else [path]
        rows = [
            f"{p.relative_to(home)} {hashlib.sha256(p.read_bytes()).hexdigest()}"
            for p in parts
            if p.is_file()
        ]
        files[f"{name}.sha256"] = "\n".join(rows) + "\n"
    files["info"] = figures(run(home, "counts", "info", "words.counts").replace(str(home), ""))
    files["query"] = run(home, "counts", "query", "words.counts", "bring me", "take", "nothing here")
    return files


def model_kind(name: str) -> str:
    return name.split("_")[0]


def decisions(home: Path, name: str, model: Path) -> str:
    """Return what a small model decides on new texts."""
    path = NEW[model_kind(name)][0]
    if path.endswith(".jsonl"):
        made = run(home, "annotate", path, "--from", "nbest", "--model", model, "-q")
    else:
        made = run(home, "annotate", path, "--model", model, "--format", "jsonl", "-q")
    rows = [json.loads(line) for line in made.splitlines()]
    return as_lines(rows)


def train(home: Path, name: str) -> Path:
    """Train a small model and return its folder."""
    build_counts(home)
    options = configs()[name][1].split()
    run(home, "train", f"{name}.cfg", *options, "--output", name, "--no-test", "-q")
    return home / name


QUICK = ("words_VarianceSVM", "it_VarianceSVM", "topic_SGD", "sense_RLSC", "rerank_BLasso", "trees_EG")
"""One model of each kind of task: the plain tests train these, the slow ones all."""


def _trained(home: Path, names: list[str]) -> Files:
    files = {}
    for name in names:
        model = train(home, name)
        files[f"{name}.jsonl"] = decisions(home, name, model)
        files[f"{name}.layout"] = layout(model)
    return files


@golden("train")
def train_quick(home: Path) -> Files:
    return _trained(home, list(QUICK))


@golden("train_all", slow=True)
def train_all(home: Path) -> Files:
    return _trained(home, [name for name in configs() if name not in QUICK])


@golden("train_parser", slow=True)
def train_parser(home: Path) -> Files:
    run(home, "train-parser", "trees.mrg", "--output", "parser", "-q")
    made = run(home, "parse", "plain.txt", "--model", "parser", "-n", "2", "-q")
    return {"nbest": made, "layout": layout(home / "parser")}


def _beside_counts(home: Path, name: str) -> Path:
    """Copy a saved model into the folder with the counts that it names."""
    build_counts(home)
    return shutil.copytree(MODELS / name, home / name)


@golden("saved")
def saved(home: Path) -> Files:
    """Load the models that were saved with the fixtures, and decide with them."""
    build_counts(home)
    files = {}
    for kept in sorted(MODELS.iterdir()):
        model = _beside_counts(home, kept.name)
        if model.name == "parser":
            files["parser"] = run(home, "parse", "plain.txt", "--model", model, "-n", "2", "-q")
        elif model.name == "converter":
            files["converter"] = run(home, "convert", "kana.txt", "--model", model, "--nbest", "2", "-q")
        else:
            files[f"{model.name}.jsonl"] = decisions(home, model.name, model)
        files[f"{model.name}.layout"] = layout(model)
    return files


@golden("evaluate")
def evaluate(home: Path) -> Files:
    build_counts(home)

    def scores(*arguments: object) -> str:
        return as_json(json.loads(run(home, "evaluate", *arguments, "--json", "-q")))

    words, topics = ("--text", "words.txt", "--lines"), ("--labelled", "topics.csv")
    return {
        "it.json": scores(_beside_counts(home, "it_VarianceSVM"), "--labelled", "it.tsv"),
        "two.json": scores(MODELS / "topic_SGD", MODELS / "topic_Perceptron", *topics),
        "lists.json": scores(MODELS / "rerank_BLasso", "--lists", "new_lists.jsonl"),
        "words.json": scores(_beside_counts(home, "words_VarianceSVM"), *words),
        "folds.json": scores("topic_SGD.cfg", *topics, "--folds", "3"),
    }


@golden("curve")
def curve(home: Path) -> Files:
    options = ("--labelled", "topics.csv", "--sizes", "4,10", "--draws", "2", "--json", "-q")
    return {"topic.json": as_json(json.loads(run(home, "curve", "topic_Perceptron.cfg", *options)))}


@golden("names")
def names(home: Path) -> Files:
    """Return registered names, experiments, and names of commands with their options."""
    plugins = json.loads(run(home, "plugins", "--json"))
    rows = [f"{p['name']} {kind} {name}" for p in plugins for kind, name in p["registered"]]
    experiments = re.findall(r"^\s*([a-z0-9_]+\.[a-z0-9_.]+)", run(home, "reproduce"), flags=re.M)
    lines: list[str] = []
    _command_names(home, (), lines)
    return {
        "plugins": "\n".join(sorted(rows)) + "\n",
        "reproduce": "\n".join(sorted(experiments)) + "\n",
        "commands": "\n".join(lines) + "\n",
    }


def _command_names(home: Path, command: tuple[str, ...], lines: list[str]) -> None:
    text = run(home, *command, "--help")
    columns = re.findall(r"^  (-\S.*?)(?:  |$)", text, flags=re.M)
    options = sorted({name for column in columns for name in re.findall(r"--?[a-z][\w-]*", column)})
    lines.append(" ".join(["disambig", *command, *options]))
    if "\nCommands:\n" in text:
        for name in re.findall(r"^  ([a-z][\w-]*)(?:  |$)", text.split("\nCommands:\n")[1], flags=re.M):
            _command_names(home, (*command, name), lines)


COMPONENTS: dict[str, dict[str, Any]] = {
    "disambig": {"model": str(MODELS / "topic_SGD")},
    "disambig_articles": {},
    "disambig_dependencies": {},
    "disambig_doubled": {},
    "disambig_forms": {},
    "disambig_it": {},
    "disambig_parser": {"model": str(PARSER)},
    "disambig_preposition": {},
    "disambig_proofread": {},
    "disambig_sense": {"model": str(MODELS / "sense_RLSC")},
    "disambig_slips": {},
    "disambig_spelling": {},
    "disambig_tagger": {},
    "disambig_topic": {"model": str(MODELS / "topic_SGD")},
}
"""Every factory, with what it needs to be made where no pack is its default."""


@golden("components")
def components(home: Path) -> Files:
    import spacy

    files = {}
    for name, config in COMPONENTS.items():
        nlp = spacy.blank("en")
        meta = nlp.get_factory_meta(name)
        files[f"{name}.config.json"] = as_json(
            {"default": meta.default_config, "assigns": sorted(meta.assigns)}
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # no tags before disambig_sense
            nlp.add_pipe(name, config=config)
            files[f"{name}.jsonl"] = as_lines(doc_rows(doc) for doc in nlp.pipe(PARAGRAPHS))
    return files


@golden("server")
def server(home: Path) -> Files:
    from running_server import running

    files = {}
    with running(folder=home) as (port, _):
        for name, path, body in (
            ("check", "/v2/check", {"language": "en", "text": PARAGRAPHS[0]}),
            ("annotate", "/annotate", {"text": PARAGRAPHS[0]}),
        ):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            kind = {"Content-Type": "application/json"} if name == "annotate" else {}
            data = json.dumps(body) if name == "annotate" else urlencode(body)
            connection.request("POST", path, data, kind)
            answer = connection.getresponse()
            files[f"{name}.json"] = f"{answer.status}\n" + as_json(json.loads(answer.read()))
            connection.close()
    return files


@golden("lsp")
def lsp(home: Path) -> Files:
    from lsp_wire import Wire

    uri = "file:///nowhere/notes.md"
    with Wire.started(home, stderr=subprocess.DEVNULL) as wire:
        wire.initialize()
        wire.open((home / "notes.md").read_text(encoding="utf8"), uri=uri)
        shown = wire.diagnostics()["diagnostics"]
        request = {"textDocument": {"uri": uri}, "context": {"diagnostics": shown}}
        everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
        actions = wire.ask("textDocument/codeAction", {**request, "range": everywhere})["result"]
        wire.end()
    edits = [
        {key: action[key] for key in ("kind", "edit", "isPreferred") if key in action} for action in actions
    ]
    return {"diagnostics.jsonl": as_lines(shown), "actions.jsonl": as_lines(edits)}


def record(home: Path, names: list[str]) -> dict[str, Files]:
    """Return the files of the named cases, each of which runs in its own folder."""
    made = {}
    for name in names:
        (home / name).mkdir()
        write_inputs(home / name)
        files = CASES[name][0](home / name)
        places = {home / name: "HOME", ROOT: "ROOT", Path(disambig.__file__).parents[1]: "ROOT"}
        for place, shown in places.items():
            files = {file: text.replace(str(place), shown) for file, text in files.items()}
        made[name] = files
    return made
