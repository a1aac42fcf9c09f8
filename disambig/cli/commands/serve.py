"""The options of ``disambig serve``; the server is in `disambig.server`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from disambig.cli.options import SETTINGS, Quiet, flag_options, settings_from_options, share_options
from disambig.cli.output import StandardOutput

app = typer.Typer(**SETTINGS)


@app.command()
@share_options(flag_options)
def serve(
    host: Annotated[
        str,
        typer.Option(help="Address to listen on. Only the default keeps the server private to this machine."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free port.")
    ] = 8081,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="A site whose pages may send requests, such as https://example.org, or all extensions of a "
            "browser, moz-extension://* or chrome-extension://*; can be repeated.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A host name under which the server may be reached, in addition to addresses and localhost; "
            "can be repeated.",
        ),
    ] = None,
    max_text: Annotated[int, typer.Option(min=1, help="Maximum number of characters per text.")] = 500_000,
    max_clients: Annotated[
        int, typer.Option(min=1, help="Maximum number of simultaneous connections.")
    ] = 256,
    client_timeout: Annotated[
        float,
        typer.Option(
            min=0.1,
            metavar="SECONDS",
            help="Maximum time for a client to send a request or to read the response.",
        ),
    ] = 10.0,
    text_timeout: Annotated[
        float,
        typer.Option(
            min=0.1,
            metavar="SECONDS",
            help="Maximum processor time per text; a text that takes longer is rejected.",
        ),
    ] = 10.0,
    standalone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A parser or converter, such as disambig_en_parser or a folder, to serve under "
            "/models/NAME; can be repeated.",
        ),
    ] = None,
    *,
    choices: Any,
    quiet: Quiet = False,
) -> None:
    """Serve checks over HTTP: LanguageTool's interface under /v2, JSON records, a web page under /.

    Editors and browser extensions that support LanguageTool accept http://127.0.0.1:8081/v2 as the address
    of your own server. Settings are read as for `check`, from the current directory; options take
    precedence. Texts are neither stored nor logged. SIGINT and SIGTERM stop the server after the last request
    is answered.
    """
    from disambig.configuration import ProjectSettings
    from disambig.server import AllowedOrigins, ServerLimits, serve as run

    options = settings_from_options(choices)
    output = StandardOutput()
    settings = ProjectSettings(options).for_file("<text>")
    sources = {source for origins in settings.origins.values() for source in origins} - {options.origin}
    if sources:
        output.remark(f"disambig: settings of {', '.join(sorted(sources))} are used\n")
    run(
        settings,
        host=host,
        port=port,
        origins=AllowedOrigins.from_options(hosts=[host, *(allow_host or ())], origins=allow_origin or []),
        limits=ServerLimits(max_text, max_clients, client_timeout, text_timeout),
        show_address=lambda line: output.remark(f"disambig: {line}\n"),
        show_note=lambda line: output.note(f"disambig: {line}\n"),
        standalone=standalone or (),
    )
