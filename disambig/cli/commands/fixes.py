"""The command ``disambig fixes``; the work is done in `disambig.mining`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from disambig.cli.options import GROUP_SETTINGS, Quiet
from disambig.cli.output import StandardOutput, stages
from disambig.files import json_text
from disambig.formatting import pluralize

app = typer.Typer(
    **GROUP_SETTINGS, help="Collect human errors with their corrections from the git history of projects."
)


@app.command("mine")
def mine(
    repositories: Annotated[
        list[str],
        typer.Argument(metavar="REPOSITORY...", help="Folders of git repositories (clones, also bare ones)."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            help="Directory for fixes.jsonl and clean.jsonl, which `evaluate --fixes` and --clean read, and "
            "summary.json."
        ),
    ] = Path("mined"),
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Files to read, such as '*.py' for the comments of Python files; can be repeated. Default: "
            "what `check` reads in the repository.",
        ),
    ] = None,
    untouched: Annotated[
        int,
        typer.Option(min=1, metavar="DAYS", help="Minimum number of days since a clean paragraph changed."),
    ] = 365,
    force: Annotated[bool, typer.Option("--force", help="Replace the results of an earlier run.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Find corrected words in the history of projects, and paragraphs that have not changed for a long time.

    Everything stays on this machine, and nothing that a repository contains is run. The results contain
    text of the projects, but no names of authors.
    """
    from disambig.configuration import ProjectSettings, SettingsSource
    from disambig.mining import History, Miner, PackVocabulary, check_output, summarise, write_mined
    from disambig.models import ModelSource

    check_output(output, force=force)
    for folder in repositories:  # raise an error before the models are loaded
        History(folder)
    settings = ProjectSettings(SettingsSource("--include", {"include": include}) if include else None)
    mined = []
    with stages() as progress:
        vocabulary = PackVocabulary(ModelSource().correcting_models())
        miners = [
            Miner(folder, vocabulary, vocabulary.language, settings=settings) for folder in repositories
        ]
        for miner in miners:
            mined.append(miner.mine(days=untouched, progress=progress))
    summary = summarise(mined)
    write_mined(output, mined, summary, force=force)
    console = StandardOutput()
    if json:
        console.result(json_text(summary) + "\n")
        return
    lines = summary_lines(summary) if quiet else [*project_lines(summary), *summary_lines(summary)]
    console.result("".join(f"{line}\n" for line in lines))
    console.remark(f"disambig: written to {output}: fixes.jsonl, clean.jsonl, summary.json\n")


def project_lines(summary: dict[str, Any]) -> list[str]:
    """Return what was found in each project as lines of text."""
    lines = []
    for project in summary["projects"]:
        corrections = f"{pluralize(project['corrections'], 'correction')} ({project['tier_1']:,} very likely)"
        n_words = pluralize(project["clean_words"], "word")
        clean = f"{pluralize(project['clean_paragraphs'], 'clean paragraph')} with {n_words}"
        n_files = pluralize(project["compared_files"], "changed file")
        read = f"{pluralize(project['commits'], 'commit')}, {n_files}"
        lines.append(f"{project['name']}: {corrections}; {clean}; from {read}")
        lines += [f"  note: {note}" for note in project["notes"]]
        lines += [f"  not taken: {n:,} {reason}" for reason, n in project["skipped"].items() if n]
    return lines


def summary_lines(summary: dict[str, Any]) -> list[str]:
    """Return the numbers for all projects as lines of text."""
    lines = []
    if summary["kinds"]:
        lines.append(f"{'':18}{'':9}{'very likely':>12}{'others':>8}")
        for name, kinds in summary["kinds"].items():
            for kind, counts in kinds.items():
                lines.append(f"{name:18}{kind:9}{counts['tier_1']:12,}{counts['tier_2']:8,}")
    pairs = [
        f"{pair['old'] or '-'} -> {pair['new'] or '-'} {pair['n']}"
        for pair in summary["pairs"]
        if pair["n"] > 1
    ]
    if pairs:
        lines.append(f"most frequent: {', '.join(pairs[:12])}")
    return lines
