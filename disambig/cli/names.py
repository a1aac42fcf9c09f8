"""The core's own commands and their lines of help; nothing is imported to know them."""

from __future__ import annotations

COMMANDS = {
    "annotate": "Annotate a corpus: text, JSONL, CSV, Parquet, CoNLL-U, .spacy or standard input.",
    "job": "Look after jobs of annotate: status, verify, resume, merge.",
    "check": "Check text, Markdown, LaTeX and comments of code like a linter, and correct them.",
    "lsp": "Serve editors: flags as one types, and corrections (the Language Server Protocol).",
    "serve": "Answer over HTTP: LanguageTool's interface, our records, a page to try it.",
    "explain": "Show why each word of a text was decided as it was.",
    "plugins": "List the installed plugins and what each brings.",
    "new-plugin": "Write a plugin to begin with, tests and all.",
    "train": "Train a model.",
    "evaluate": "Score a model on text.",
    "curve": "Show how good a model gets with more examples.",
    "reproduce": "Repeat a table of a paper, its figures beside ours.",
    "counts": "Build, import, merge, prune and ask tables of n-gram counts.",
    "doctor": "Look at the installation: what is off and how to mend it.",
}
PACKAGE = "disambig.cli.commands"


def command_module(command: str) -> str:
    """Return the module of a command of the core, which holds a Typer called ``app``."""
    return f"{PACKAGE}.{command.replace('-', '_')}"
