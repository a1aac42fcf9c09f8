"""The command line: one module per command, imported only when the command is run.

The entry point is `disambig.cli.main:run`; options that several commands share are in `options`. The commands
are listed here with their one-line help, so that none has to be imported to list them.
"""

from __future__ import annotations

COMMANDS = {
    "annotate": "Annotate a corpus: text, JSONL, CSV, Parquet, CoNLL-U, .spacy or standard input.",
    "job": "Manage the jobs of annotate: status, verify, resume, merge.",
    "check": "Find wrong words in text, documents and code comments, and correct them.",
    "lsp": "Check text in an editor while you type (Language Server Protocol).",
    "serve": "Serve checks over HTTP: LanguageTool's interface, JSON records, a web page.",
    "explain": "Explain each decision in a text.",
    "rules": "List the rules of flags, or explain one.",
    "plugins": "List the installed plugins and what each provides.",
    "new-plugin": "Write the files of a new plugin, including tests.",
    "train": "Train a model.",
    "evaluate": "Evaluate a model on text, labelled examples or human errors.",
    "fixes": "Collect human errors with their corrections from git histories.",
    "tune": "Tune the models to a project: rates, words to ignore.",
    "curve": "Show how the accuracy of a model grows with more examples.",
    "reproduce": "Reproduce a table of a paper and compare the figures.",
    "data": "List and fetch the data of experiments.",
    "counts": "Build, import, merge, prune and query tables of n-gram counts.",
    "schema": "Print the JSON Schema of the records that annotate writes.",
    "doctor": "Check the installation: what is wrong and how to fix it.",
}
ON_ONE_THREAD = frozenset({"annotate", "check", "explain", "job", "lsp", "serve", "tune"})
"""Commands that decide and do not train. More threads do not speed up their small products of matrices, and
take processor time while they wait."""
PACKAGE = "disambig.cli.commands"


def command_module(command: str) -> str:
    """Return the module of a core command; it contains a Typer application called ``app``."""
    return f"{PACKAGE}.{command.replace('-', '_')}"
