"""The command ``disambig data``: the data sets of experiments; the work is done in `disambig.experiments`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disambig.cli.options import GROUP_SETTINGS, Quiet, complete_from
from disambig.cli.output import progress, remark, say
from disambig.files import json_text
from disambig.formatting import escape_control_chars

if TYPE_CHECKING:
    from disambig.experiments import DataSet

app = typer.Typer(**GROUP_SETTINGS, help="List and fetch the data of experiments.")
VARIABLE = "DISAMBIG_DATA"


def _names() -> list[str]:
    from disambig.experiments import data_sets

    return list(data_sets())


Directory = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Directory of the data. Default: $DISAMBIG_DATA, else one in the cache directory."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_data_sets(data: Directory = None, json: Json = False) -> None:
    """List the data sets: whether they are present, their licence, and who may use them."""
    from disambig.experiments import data_sets

    place, entries = data_directory(data), data_sets()
    if json:
        typer.echo(json_text([_as_json(entry, place) for entry in entries.values()]))
        return
    width = max(map(len, entries), default=0)
    for name, entry in entries.items():
        line = f"{name:{width}}  {_state(entry, place):9}  {entry.title} ({entry.licence}; {entry.users})"
        typer.echo(escape_control_chars(line))


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(help="A data set.", autocompletion=complete_from(_names))],
    data: Directory = None,
    json: Json = False,
) -> None:
    """Show a data set: files, addresses, digests, who may use it, and how to make what is not fetched."""
    from disambig.experiments import data_set

    entry, place = data_set(name), data_directory(data)
    if json:
        typer.echo(json_text(_as_json(entry, place)))
    else:
        typer.echo(escape_control_chars(_text(entry, place), lines=True), nl=False)


@app.command("get")
def get(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Data sets.", autocompletion=complete_from(_names))
    ],
    data: Directory = None,
    local: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="Use the downloads in this directory instead of fetching them."
        ),
    ] = None,
    unchecked: Annotated[
        bool,
        typer.Option(
            "--unchecked",
            help="Accept files that differ from those behind the published figures, such as those of a newer "
            "release.",
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Fetch data sets and check them; an interrupted download is continued.

    Proxies are those of the environment (HTTPS_PROXY).
    """
    from disambig.experiments import Fetcher, data_set

    place, entries = data_directory(data), [data_set(name) for name in dict.fromkeys(names)]
    for entry in entries:
        remark(f"{entry.name}: {entry.licence}; {entry.users}")
    with progress() as meter:
        fetcher = Fetcher(
            place,
            local=local,
            unchecked=unchecked,
            progress=lambda stage, done, total: meter.show(stage, done, total, unit="B"),
            tell=say,
        )
        for entry in entries:
            n_written = len(fetcher.fetch(entry))
            n_present = len(entry.files) - n_written
            remark(f"{entry.name}: {n_written} files written, {n_present} were already there; {place}")


def data_directory(option: Path | None) -> Path:
    """Return the directory of the data: that of the option or of the environment, or the default."""
    from disambig.experiments import default_data_directory

    directory = option or os.environ.get(VARIABLE)
    return Path(directory) if directory else default_data_directory()


def _state(entry: DataSet, place: Path) -> str:
    missing = entry.missing(place)
    if not missing:
        return "there"
    if len(missing) < len(entry.paths):
        return "partly"
    return "get" if entry.downloads else "make"


def _as_json(entry: DataSet, place: Path) -> dict[str, Any]:
    return {**entry.model_dump(mode="json"), "directory": str(place), "missing": entry.missing(place)}


def _text(entry: DataSet, place: Path) -> str:
    """Return the description of a data set."""
    missing = entry.missing(place)
    lines = [
        f"{entry.name}: {entry.title}",
        "",
        f"licence: {entry.licence}",
        f"who may use it: {entry.users}",
    ]
    lines += [f"homepage: {entry.homepage}"] if entry.homepage else []
    lines += [f"directory: {place}", f"missing: {len(missing)} of {len(entry.paths)} files"]
    for title, text in (("note", entry.note), ("how to make it", entry.how)):
        lines += ["", f"{title}:", *(f"  {line}" for line in text.strip().splitlines())] if text else []
    if entry.downloads:
        lines += ["", "downloads:"]
    for download in entry.downloads:
        size = "size not known" if download.size is None else f"{download.size:,} bytes"
        digest = "digest not known" if download.sha256 is None else f"SHA-256 {download.sha256}"
        lines += [f"  {download.url}", f"    {size}, {digest}"]
    lines += ["", "files:"]
    for file in entry.files:
        lines += [f"  {file.path}", f"    content: {file.size:,} bytes, SHA-256 {file.sha256}"]
    lines += [f"  {path}" for path in entry.provides]
    return "\n".join(lines) + "\n"
