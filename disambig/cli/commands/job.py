"""The command ``disambig job``, which manages jobs; the work is done in `disambig.jobs`."""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from disambig.cli.options import GROUP_SETTINGS, Quiet
from disambig.cli.output import StandardOutput, check_takes_bytes, open_output, progress, remark
from disambig.errors import UserError
from disambig.files import json_text, writing
from disambig.formatting import pluralize

app = typer.Typer(
    **GROUP_SETTINGS, help="Manage jobs of `annotate` and `counts`: show progress, verify, resume, merge."
)
FAILURE = 2
Job = Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a job.")]


@app.command("status")
def show(directory: Job, json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show the progress of a job; exit status 0 if it is finished, 1 otherwise."""
    from disambig.jobs import status

    job_status, output = status(directory), StandardOutput()
    if json:
        record = {
            "shards": job_status.shards,
            "finished": job_status.finished,
            "damaged": list(job_status.damaged),
            "at_work": job_status.at_work,
            "bad": job_status.bad,
            **job_status.totals.plain(),
        }
        output.result(json_text(record) + "\n")
    else:
        totals = job_status.totals
        output.result(f"{job_status.finished:,} of {pluralize(job_status.shards, 'shard')} finished\n")
        output.result(f"{pluralize(totals.documents, 'document')}, {pluralize(totals.words, 'word')}\n")
        for task, (decisions, flags) in sorted(totals.tasks.items()):
            flagged = "" if flags is None else f", {pluralize(flags, 'flag')}"
            output.result(f"{task}: {pluralize(decisions, 'decision')}{flagged}\n")
        if job_status.damaged:
            output.result(f"damaged, to be repeated: {pluralize(len(job_status.damaged), 'shard')}\n")
        output.result("".join(f"skipped: {message}\n" for message in job_status.bad))
        if job_status.at_work:
            output.result("a process is working on it\n")
        elif job_status.finished < job_status.shards:
            output.result(f"to continue: disambig job resume {directory}\n")
    if job_status.finished < job_status.shards:
        raise typer.Exit(1)


@app.command()
def verify(
    directory: Job,
    forget: Annotated[
        bool, typer.Option("--forget", help="Discard damaged shards, so that `job resume` repeats them.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Read all finished shards of a job and compare them with the sizes and digests in its records.

    The exit status is 2 if something is damaged.
    """
    from disambig.jobs import is_whole, locked, record_path, status, verify as verify_job

    output, damaged = StandardOutput(), set()
    n_bytes = n_files = 0
    job_status = status(directory)
    with progress() as meter:

        def count_file(size: int) -> None:
            nonlocal n_bytes, n_files
            n_bytes, n_files = n_bytes + size, n_files + 1
            meter.show("verifying", n_bytes, None, unit="B")

        for index, message in verify_job(directory, read=count_file):
            damaged.add(index)
            output.result(f"{message}\n")
    if damaged and forget:
        # The lock keeps a running job from writing the same records.
        with locked(directory):
            for index in sorted(damaged):
                if is_whole(directory, index):  # repeated by another process in the meantime
                    continue
                with writing(record_path(directory, index)):
                    record_path(directory, index).unlink(missing_ok=True)
        remark(
            f"discarded: {pluralize(len(damaged), 'shard')}; to repeat them: disambig job resume {directory}"
        )
    finished = f"{job_status.finished:,} of {pluralize(job_status.shards, 'shard')} finished"
    remark(f"{finished}, {pluralize(n_files, 'file')} read, {len(damaged):,} damaged")
    if damaged:
        raise typer.Exit(FAILURE)


@app.command()
def resume(
    directory: Job,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of worker processes. Default: as before.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Resume a job with the command that started it, in the directory where it was started."""
    from pydantic import TypeAdapter, ValidationError

    from disambig.cli.commands import counts
    from disambig.cli.commands.annotate import annotate
    from disambig.jobs import NAME, load_manifest

    invocation = load_manifest(directory / NAME).get("command")
    invocation = invocation if isinstance(invocation, dict) else {}
    options = invocation.get("options")
    if isinstance(options, dict) and "text" in options:  # a manifest that is older than --no-text
        options["no_text"] = not options.pop("text")
    count_commands = {"counts build": counts.build, "counts merge": counts.merge}
    command = count_commands.get(str(invocation.get("command")), annotate)
    # The manifest may be edited or come from another version, so its options are checked: here their names,
    # below their types. A parameter that is newer than the manifest has its default.
    parameters = inspect.signature(command).parameters
    required = {
        name for name, parameter in parameters.items() if parameter.default is inspect.Parameter.empty
    }
    if not isinstance(options, dict) or not required <= options.keys() <= parameters.keys():
        raise UserError("D876", path=directory)
    hints = get_type_hints(command)
    try:
        options = {
            name: TypeAdapter(hints[name]).validate_json(json.dumps(value), strict=True)
            for name, value in options.items()
        }
    except ValidationError:
        raise UserError("D876", path=directory) from None
    changed: dict[str, Any] = {"quiet": quiet}
    if command is annotate:
        changed |= {"output": str(directory.absolute()), "force": False}
    elif options["job"] is not None:
        changed |= {"job": directory.absolute()}
    if workers is not None:
        changed["workers"] = workers
    # Last, because `directory` may be relative: paths of the options refer to where the job was started.
    try:
        os.chdir(invocation["directory"])
    except (OSError, LookupError, TypeError, ValueError):
        raise UserError("D876", path=directory) from None
    command(**{**options, **changed})


@app.command()
def merge(
    directory: Job,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write. Default or -: standard output."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    quiet: Quiet = False,
) -> None:
    """Merge the parts of a finished job into one file, as `disambig annotate --output FILE` would write."""
    from disambig.formats import BINARY, check_output
    from disambig.jobs import merge as merge_parts, parts_format

    format = parts_format(directory)
    output = None if output == Path("-") else output
    if output is not None:
        check_output(str(output), format)
    elif format in BINARY:
        check_takes_bytes(format)
    with open_output(output, force=force) as write:
        n = merge_parts(directory, write)
    remark(f"{pluralize(n, 'part')} merged{f', written to {output}' if output is not None else ''}")
