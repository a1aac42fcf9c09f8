"""The command line: help, errors, exit statuses; progress, summaries and messages."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import threading
import types
from contextlib import suppress

import pytest
import typer
from commands import exit_status, here, process
from typer.testing import CliRunner

from disambig import __version__
from disambig.cli import COMMANDS, main, output
from disambig.cli.commands.annotate import AnnotationReporter
from disambig.cli.main import app
from disambig.cli.options import parse_rates
from disambig.cli.output import ProgressRate, format_duration, format_size, line_blocks
from disambig.errors import UserError
from disambig.jobs import JobReport, Totals


@pytest.fixture
def command(monkeypatch):
    """A command ``train`` that raises a given exception."""

    def make(problem: BaseException | None) -> None:
        module = types.ModuleType("disambig.cli.commands.train")
        module.app = typer.Typer()

        @module.app.command()
        def train() -> None:
            if problem is not None:
                raise problem

        monkeypatch.setitem(sys.modules, "disambig.cli.commands.train", module)

    return make


def test_help_lists_every_command_and_version_the_release(capsys):
    assert exit_status("--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    for name, summary in main.COMMANDS.items():
        assert f"{name} {summary}" in shown
    assert exit_status() == 0
    for name in ("annotate", "explain", "plugins"):
        assert exit_status(name, "--help") == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert f"Usage: disambig {name} [OPTIONS]" in shown
        first = main.COMMANDS[name].rstrip(".").split(":")[0]
        assert first in shown
    assert exit_status("--version") == 0
    assert capsys.readouterr().out == f"disambig {__version__}\n"


def test_help_imports_no_command_and_nothing_heavy():
    code = (
        "import sys; sys.argv = ['disambig', '--help']\n"
        "from disambig.cli import main\n"
        "try: main.run()\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    heavy = {"numpy", "spacy", "numba", "sklearn", "scipy", "rich", "tqdm", "multiprocessing"}
    assert not loaded & heavy
    modules = [name.split(".")[2] for name in loaded if name.startswith("disambig.cli.")]
    assert not set(modules) & set(main.COMMANDS)


def test_check_of_a_small_file_with_mistakes_loads_no_large_package(tmp_path):
    pytest.importorskip("disambig_en")
    file = tmp_path / "note.txt"
    file.write_text("It was hard to find a quite place. The results was sent to the office.\n")
    code = (
        "import sys\n"
        "from disambig.cli import main\n"
        "try: main.run(sys.argv[1:])\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, "check", file], capture_output=True, text=True)
    assert "quite -> quiet" in done.stdout and "was -> were" in done.stdout
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "onnxruntime" in loaded  # the second look was used
    assert not loaded & {"spacy", "numba", "sklearn", "scipy"}


def test_user_errors_are_one_line_interrupts_have_a_status_and_bugs_a_traceback(capsys, command):
    command(UserError("D300", path="a\nb"))
    assert exit_status("train") == 2
    assert capsys.readouterr() == ("", "disambig: [D300] a\\x0ab: no such file or directory\n")
    command(KeyboardInterrupt())
    assert exit_status("train") == 130
    command(ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError):
        main.run(["train"])


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ("check NAME", "D308"),
        ("explain words --model NAME", "D404"),
        ("check . -o NAME", "D308 D309"),  # from Python 3.14 on, pathlib says that there is no such file
        ("counts info NAME", "D308 D402"),
        ("annotate NAME", "D300"),
    ],
)
def test_a_name_that_is_too_long_is_one_line(capsys, tmp_path, monkeypatch, arguments, codes):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("All is well.\n")
    assert exit_status(*arguments.replace("NAME", "x" * 400).split()) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith(tuple(f"disambig: [{code}] " for code in codes.split())) and "x" * 400 in line


@pytest.mark.parametrize("command", ["check", "annotate"])
def test_an_empty_name_is_visible(capsys, command):
    assert exit_status(command, "") == 2
    assert "disambig: [D300] '': no such file or directory\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        ("anotate", "[D600] ", "Did you mean 'annotate'?; see `disambig --help`"),
        ("plugins --jsn", "[D600] ", "--jsn"),
        ("annotate", "[D600] ", "see `disambig annotate --help`"),
        ("annotate --workers 0 x", "[D600] ", "--workers"),
        ("check --task", "[D600] ", "requires an argument; see `disambig check --help`"),
        ("job resume --workers", "[D600] ", "requires an argument; see `disambig job resume --help`"),
        ("fixes .", "[D600] ", "available: disambig fixes mine; see `disambig fixes --help`"),
        ("evaluate spelling --text missing.txt --rate -1", "[D602] --rate -1.0:", ""),
    ],
)
def test_usage_errors_are_one_line(capsys, arguments, code, part):
    assert exit_status(*arguments.split()) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"disambig: {code}")
    assert err.count("\n") == 1
    assert part in err
    assert out == ""


def test_signal_handlers_are_restored(command, monkeypatch):
    def handler(*_):
        pass

    before = signal.signal(signal.SIGTERM, handler)
    try:
        command(None)
        assert exit_status("train") == 0
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)
    assert exit_status("train") == 0
    assert signal.getsignal(signal.SIGTERM) is before
    thread = threading.Thread(target=exit_status, args=("train",))
    thread.start()
    thread.join()


def test_a_damaged_pack_stops_only_the_commands_that_need_it(tmp_path):
    home = tmp_path / "site" / "disambig_en_tagger"
    home.mkdir(parents=True)
    (home / "__init__.py").touch()
    (home / "pack.json").write_text("{")
    (tmp_path / "notes.md").write_text("It depends of the weather.\n")
    path = os.pathsep.join(filter(None, (str(home.parent), os.environ.get("PYTHONPATH", ""))))
    environment = {**os.environ, "PYTHONPATH": path}
    checked = process("check", "notes.md", folder=tmp_path, env=environment)
    assert (checked.returncode, checked.stdout.count("notes.md:1:12: of -> on")) == (1, 1)
    assert checked.stderr.count(f"[D403] pack {home} is damaged") == 1
    listed = process("plugins", folder=tmp_path, env=environment)
    assert listed.returncode == 0
    assert listed.stderr.count(f"[D403] pack {home} is damaged") == 1
    for name in ("disambig_en_tagger/tag", "tag"):
        needing = process("annotate", "notes.md", "--task", name, folder=tmp_path, env=environment)
        assert needing.returncode == 2 and not needing.stdout
        assert "disambig_en_tagger" in needing.stderr.splitlines()[-1]


THREADS = """
import atexit, os, sys
from disambig.cli.main import run
from threadpoolctl import threadpool_info

def show():
    numbers = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    print(max(numbers), os.environ["OMP_NUM_THREADS"], file=sys.stderr)

atexit.register(show)
run()
"""


@pytest.mark.parametrize("chosen", [None, "2"])
def test_check_multiplies_on_one_thread_unless_told_otherwise(tmp_path, chosen):
    (tmp_path / "a.md").write_text("It is here.\n")
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment |= {"OMP_NUM_THREADS": chosen} if chosen else {}
    done = process("a.md", python=("-c", THREADS, "check"), folder=tmp_path, env=environment)
    n_threads, variable = done.stderr.split()[-2:]
    assert variable == (chosen or "1")
    assert int(n_threads) <= int(variable)


def test_characters_that_standard_output_lacks_are_escaped():
    code = "from disambig.cli.main import run\ntry: run(['--version'])\nexcept SystemExit: print('\u65e5')"
    done = process(python=("-c", code), env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.stdout.endswith("\\u65e5\n"), done.stderr


def test_a_closed_pipe_is_silent():
    line = f'"{sys.executable}" -m disambig.cli.main --help | true; exit "${{PIPESTATUS[0]}}"'
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(["/bin/bash", "-c", line], check=False, capture_output=True, env=environment)
    assert (done.stderr, done.returncode) == (b"", 141)  # as of grep, git or cat: not 1, which means flags


TERMINATED_TWICE = """
import atexit, os, signal, sys
import disambig.cli.main as main

def again(*_):
    os.kill(os.getpid(), signal.SIGTERM)
    return 0

main._run = again
if sys.argv[1] == "closing":
    main._close_stdout = again
atexit.register(again)
main.run([])
"""


@pytest.mark.skipif(os.name != "posix", reason="no signals")
@pytest.mark.parametrize("where", ["closing", "ending"])
def test_a_second_signal_during_exit(where):
    done = subprocess.run([sys.executable, "-c", TERMINATED_TWICE, where], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (143, b"")


PATHS = [[name] for name in COMMANDS] + [
    ["fixes", "mine"],
    *(["data", name] for name in ("list", "show", "get")),
    *(["counts", name] for name in ("build", "import", "merge", "prune", "info", "query", "verify")),
]
TYPES = re.compile(r"<(str|int|float|path|bool|list|uuid)\b|list\[|\{\w+|(?<!ARGS)\]\.\.\.")


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_fits_the_width(path, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = CliRunner().invoke(app, [*path, "--help"], terminal_width=width)
    assert shown.exit_code == 0
    assert not TYPES.findall(shown.output)
    assert max(map(len, shown.output.splitlines())) <= width


def complete(monkeypatch, typed, shell="bash"):
    words = typed.split(" ")
    variables = {"_DISAMBIG_COMPLETE": f"complete_{shell}", "COMP_CWORD": str(len(words) - 1)}
    for name, value in {**variables, "COMP_WORDS": typed, "_TYPER_COMPLETE_ARGS": typed}.items():
        monkeypatch.setenv(name, value)
    return process(python=("-X", "importtime", "-m", "disambig.cli.main"))


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("disambig ann", ["annotate"]),
        ("disambig check --fo", ["--format"]),
        ("disambig counts bu", ["build"]),
        ("disambig check --format gi", ["github", "gitlab"]),
        ("disambig check --writing le", ["learner"]),
        ("disambig new-plugin --kind li", ["lists"]),
    ],
)
def test_completion(monkeypatch, typed, shown):
    done = complete(monkeypatch, typed)
    assert done.stdout.split() == shown
    imported = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert "typer" in imported and not imported & {"numba", "spacy", "scipy", "rich"}


def test_completion_of_models_and_experiments(monkeypatch):
    assert "spelling" in complete(monkeypatch, "disambig check --task sp").stdout.split()
    assert "bergsma2010.table1" in complete(monkeypatch, "disambig reproduce berg").stdout.split()
    assert "variance_svm" in complete(monkeypatch, "disambig plugins var").stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(monkeypatch, shell):
    monkeypatch.setenv("_DISAMBIG_COMPLETE", f"source_{shell}")
    done = process()
    assert done.returncode == 0 and "_DISAMBIG_COMPLETE" in done.stdout and "disambig" in done.stdout


@pytest.mark.parametrize(
    ("values", "rates"),
    [
        (None, None),
        ([], None),
        (["1.0"], 1.0),
        (["0"], 0.0),
        (["spelling=0.2"], {"spelling": 0.2}),
        (["spelling=0.2,article=0.1"], {"spelling": 0.2, "article": 0.1}),
        (["spelling=0.2", "article = 0.1 "], {"spelling": 0.2, "article": 0.1}),
    ],
)
def test_rates(values, rates):
    assert parse_rates(values) == rates


@pytest.mark.parametrize(
    ("values", "code", "expected"),
    [
        (["many"], "D951", "'many' is not a number"),
        (["spelling="], "D951", "'' is not a number"),
        (["=1"], "D951", "'=1' is not of the form task=number"),
        (["1", "2"], "D951", "'1' is not of the form task=number"),
        (["spelling=1", "2"], "D951", "'2' is not of the form task=number"),
        (["spelling=1", "spelling=2"], "D951", "'spelling' is given twice"),
        (["spelling=1,"], "D951", "'' is not of the form task=number"),
        (["-1"], "D602", "give a number such as 1"),
        (["nan"], "D602", "give a number"),
        (["spelling=inf"], "D602", "give a number"),
    ],
)
def test_invalid_rates(values, code, expected):
    with pytest.raises(UserError, match=code) as caught:
        parse_rates(values)
    assert expected in str(caught.value)


@pytest.mark.parametrize("command", ["check", "annotate", "explain"])
def test_commands_refuse_invalid_rates(command, tmp_path):
    (tmp_path / "a.txt").write_text("A quite place.")
    what = "A quite place." if command == "explain" else "a.txt"
    for rates, expected in (("much", "D951"), ("gender=1", "D950")):
        done = here(command, what, "--flags-per-1000", rates, folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert expected in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_one_rate_is_shared_among_models(tmp_path):
    """Whether or not the shipped models know their gains, their rates add up to the requested rate."""
    output = here("explain", "A quite place.", "--flags-per-1000", "1.5").stdout.splitlines()
    lines = [line for line in output if "flags per 1,000 words)" in line]
    rates = [float(line.rpartition(", ")[2].split()[0]) for line in lines]
    assert len(rates) > 1 and sum(rates) == pytest.approx(1.5)
    output = here("explain", "A quite place.", "--flags-per-1000", "spelling=0.25").stdout
    assert "0.25 flags per 1,000 words)" in output
    none = here("explain", "A quite place.", "--flags-per-1000", "spelling=0", "--task", "spelling").stdout
    assert "0 flags per 1,000 words)" in none


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(
    "given", ["my.cfg --text texts", "topic --labelled topics.csv", "rerank --lists lists.jsonl"]
)
def test_training_does_not_overwrite_other_folders(tmp_path, given, force):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "letter.txt").write_text("Dear Ann")
    done = here("train", *given.split(), "--output", "foreign", *force, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "disambig: [D940] foreign exists and does not contain a model: --force only replaces models; "
        "choose another name\n"
    )
    assert [path.name for path in tmp_path.rglob("*")] == ["foreign", "letter.txt"]
    assert (tmp_path / "foreign" / "letter.txt").read_text() == "Dear Ann"


def test_an_empty_folder_is_replaced_when_asked(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "[D406]" in here("train", "my.cfg", "-o", "empty", folder=tmp_path).stderr
    assert "my.cfg" in here("train", "my.cfg", "-o", "empty", "--force", folder=tmp_path).stderr


CODE = """
import sys, time
from disambig.cli import output
output.begin_command()
output.LINE_INTERVAL = 0.05
output.set_quiet("quiet" in sys.argv)
with output.stages() as report:
    for done in range(4):
        report("learning", done, 4)
        time.sleep(0.15)
        with output.hidden_progress():
            sys.stdout.write(f"line {done}\\n")
            sys.stdout.flush()
    output.say("note: a message")
output.remark("written to x")
"""
BAR = re.compile(r"learning.*[0-9] of 4")
CLEARED = "\x1b[2K"


def without_terminal(*arguments):
    return subprocess.run(
        [sys.executable, "-c", CODE, *arguments], capture_output=True, text=True, check=True, timeout=120
    )


def on_terminal(*arguments, code=CODE, columns=100):
    """Return the output and the messages that a terminal receives."""
    mine, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": f"{columns}"}
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        with suppress(OSError):  # Linux says so where the other side is closed
            while some := os.read(mine, 4096):
                seen += some
    os.close(mine)
    assert process.returncode == 0
    return seen.decode()


def test_cells_of_tables_are_not_broken_in_a_narrow_terminal():
    code = (
        "from disambig.cli.commands.explain import Console\n"
        "from disambig.explain import ContributionTable\n"
        "row = 'then', 'he is taller then me', '-0.125'\n"
        "Console().table(ContributionTable(('candidate', 'n-gram', 'adds'), (row,), 1))"
    )
    shown = on_terminal(code=code, columns=24)
    assert re.search("then +he is taller then me +-0.125", shown)


def test_progress_without_a_terminal():
    done = without_terminal()
    assert done.stdout.splitlines() == [f"line {i}" for i in range(4)]
    lines = done.stderr.splitlines()
    assert lines[-2:] == ["note: a message", "written to x"]
    output = lines[:-2]
    assert output and all(re.fullmatch(r"disambig: (starting|learning.*) \(\d+ s\)", line) for line in output)
    assert any("of 4" in line for line in output)
    done = without_terminal("quiet")  # which leaves messages and output
    assert done.stdout.splitlines() == [f"line {i}" for i in range(4)]
    assert done.stderr.splitlines() == ["note: a message"]


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_the_bar_is_cleared_before_a_line():
    seen = on_terminal()
    assert BAR.search(seen)
    for line in (*(f"line {i}" for i in range(4)), "note: a message", "written to x"):
        before, result, _ = seen.partition(line)
        assert result, line
        last = before.rpartition("\n")[2] if before.endswith("\n") else before[before.rfind("learning") :]
        assert not last or CLEARED in last, (line, last)  # cleared, if anything was there
    assert "learning" not in seen[seen.rfind(CLEARED) :]  # nothing is left behind
    assert "learning" not in on_terminal("quiet")


LATE = """
import sys, time
from disambig.cli import output
output.begin_command()
output.LINE_INTERVAL, output.SHOWN_AFTER = 0.05, 0.1
with output.LateProgress("checking", "files") as progress:
    progress.update(0, int(sys.argv[1]))
    time.sleep(0.2)
    if sys.argv[2] == "more":
        progress.update(7, 100)
        time.sleep(0.2)
"""


@pytest.mark.parametrize(
    ("size", "more", "expected"),
    [
        (100, "no", ""),  # a short run
        (output.SHOWN_FROM, "no", r"(disambig: checking \(\d s\)\n)+"),
        (100, "more", r"(disambig: checking: 7 files \(\d s\)\n)+"),
    ],
)
def test_only_the_progress_of_long_runs_is_shown(size, more, expected):
    command = [sys.executable, "-c", LATE, str(size), more]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert re.fullmatch(expected, done.stderr) and not done.stdout


def test_the_rate_excludes_the_start_up():
    now = iter([0.0, 100.0, 104.0, 112.0])
    rate = ProgressRate("annotating", "B", clock=lambda: next(now))
    rate.report(0, 4_000_000)
    assert (rate.rate(), rate.state()) == (None, "0 B of 4.0 MB")
    rate.report(1_000_000, 4_000_000)  # after a start of 100 seconds
    assert rate.seconds_left() is None
    rate.report(2_000_000, 4_000_000)
    assert rate.line() == "annotating: 2.0 MB of 4.0 MB, 250 kB/s, 8 s left"
    rate.report(4_000_000, 4_000_000)
    assert rate.seconds_left() == 0.0


def test_reports_at_the_same_time_give_no_estimate():
    now = iter([0.0, 60.0, 60.01, 120.0])
    rate = ProgressRate("annotating", "B", clock=lambda: next(now))
    for done in (0, 1, 2):  # two workers finish their first shards, of 32
        rate.report(done * 1_000_000, 32_000_000)
    assert rate.seconds_left() is None and "left" not in rate.line()
    rate.report(3_000_000, 32_000_000)
    assert rate.line().endswith("14 min left")


def test_formats_of_stages_sizes_and_durations():
    for stage, done, total, line in (("fitting", 0, 1, "fitting"), ("learning", 3, 40, "learning: 3 of 40")):
        rate = ProgressRate(stage)
        rate.report(done, total)
        assert rate.line() == line
    sizes = {0: "0 B", 999: "999 B", 1234: "1.2 kB", 45_600: "46 kB", 2.5e9: "2.5 GB"}
    assert {number: format_size(number) for number in sizes} == sizes
    durations = {0.4: "0 s", 89: "89 s", 600: "10 min", 7300: "2 h 02 min"}
    assert {seconds: format_duration(seconds) for seconds in durations} == durations


def summary(capsys, report, name=None):
    AnnotationReporter().summary(report, name)
    return capsys.readouterr().err.splitlines()


def test_the_summary_counts_flags_of_tasks_that_can_have_any(capsys):
    totals = Totals(1, 2000, {"spelling": (9, 1), "sense": (69, None), "it": (1, None)})
    assert summary(capsys, JobReport(totals), "out.jsonl") == [
        "1 document, 2,000 words",
        "it: 1 decision",
        "sense: 69 decisions",
        "spelling: 9 decisions, 1 flag (0.50 per 1,000 words)",
        "written to out.jsonl",
    ]
    lines = summary(capsys, JobReport(Totals(1, 10, {})), "a\ndisambig: [D309] b\x1b[2J")
    assert lines[-1] == "written to a\\x0adisambig: [D309] b\\x1b[2J"


def test_the_summary_of_a_resumed_job(capsys):
    for skipped, shards, expected in (
        (1, 1, "nothing left to do: an earlier run finished the job"),
        (1, 3, "1 of 3 shards was finished by an earlier run"),
        (2, 3, "2 of 3 shards were finished by an earlier run"),
    ):
        report = JobReport(Totals(1, 10, {}), shards=shards, skipped=skipped)
        assert summary(capsys, report)[-1] == expected


def test_the_rate_of_words_excludes_the_first_piece(capsys):
    now = iter([0.0, 100.0, 101.0, 102.0])
    reporter = AnnotationReporter(clock=lambda: next(now))
    reporter.begin(300)
    for _ in range(3):
        reporter.listen(100, [])
    report = JobReport(Totals(3, 3000, {}))
    report.fresh.words = 3000
    reporter.summary(report, None)
    assert capsys.readouterr().err == "3 documents, 3,000 words, 1,000 words/s\n"


BLOCK = 512


def numbered_lines(n):
    return [(f"-:{number}", str(number)) for number in range(1, n + 1)]


@pytest.mark.parametrize("n", [0, 1, 3, BLOCK, BLOCK + 1, 12 * BLOCK + 5])
def test_line_blocks_contain_every_line_once_in_order(n):
    result = list(line_blocks(iter(numbered_lines(n))))
    assert [line for block in result for line in block] == numbered_lines(n)
    assert all(1 <= len(block) <= BLOCK for block in result)


def test_a_line_is_yielded_before_the_next_is_read():
    answered = threading.Event()

    def typed():
        for line in numbered_lines(3):
            yield line
            assert answered.wait(10)
            answered.clear()

    seen = []
    for block in line_blocks(typed()):
        seen.append(block)
        answered.set()
    assert seen == [[line] for line in numbered_lines(3)]


def test_an_error_is_raised_after_the_lines_before_it():
    def broken():
        yield from numbered_lines(2)
        raise UserError("D300", path="gone.txt")

    seen = []
    with pytest.raises(UserError, match="D300"):
        for block in line_blocks(broken()):
            seen += block
    assert seen == numbered_lines(2)


def test_stopping_early_ends_the_reader():
    rates = []

    def endless():
        number = 0
        while True:
            number += 1
            rates.append(number)
            yield "-", str(number)

    for _ in line_blocks(endless()):
        break
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and "read" in thread.name:
            thread.join(10)
            assert not thread.is_alive()
    assert len(rates) < 20 * BLOCK
