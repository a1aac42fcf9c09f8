"""Data sets: manifests, and downloads from a server that breaks off or sends errors or the wrong file."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import os
import tarfile
import threading
import zipfile
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from commands import exit_status

from disambig import registry
from disambig.errors import UserError
from disambig.experiments import DataSet, Fetcher, data_advice, data_sets, digest_members, read_manifest

TEXT = b"".join(b"Sentence %d of a small corpus.\n" % number for number in range(20_000))
MORE = TEXT[::-1]


def digest(content):
    return hashlib.sha256(content).hexdigest()


class Server:
    """A server of files; `cut` truncates each response, `statuses` are sent before any file."""

    def __init__(self):
        self.files, self.requests, self.statuses = {}, [], []
        self.cut, self.ranges, self.etag = None, True, '"1"'
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *about):
                pass

            def do_GET(self):
                outer.answer(self)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    def answer(self, request):
        self.requests.append((request.path, request.headers.get("Range")))
        request.close_connection = True
        if self.statuses:
            request.send_error(self.statuses.pop(0))
            return
        content = self.files.get(request.path.rpartition("/")[2])
        if content is None:
            request.send_error(404)
            return
        begin, requested = 0, request.headers.get("Range")
        if requested and self.ranges and request.headers.get("If-Range", self.etag) == self.etag:
            begin = int(requested.removeprefix("bytes=").rstrip("-"))
            if begin >= len(content):
                request.send_response(416)
                request.send_header("Content-Range", f"bytes */{len(content)}")
                request.send_header("Content-Length", "0")
                request.end_headers()
                return
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        else:
            request.send_response(200)
        request.send_header("Content-Length", str(len(content) - begin))
        if self.etag:
            request.send_header("ETag", self.etag)
        request.end_headers()
        request.wfile.write(content[begin:][: self.cut])

    def close(self):
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server(monkeypatch, tmp_path):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "DISAMBIG_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISAMBIG_CACHE", str(tmp_path / "cache"))
    running = Server()
    yield running
    running.close()


def make_data_set(
    server, content, *, name="a.txt", path="texts/a.txt.xz", made=None, has_digest=True, **more
):
    """Return a data set with one download and one file; `made` is the expected content of the file."""
    server.files.setdefault(name, content)
    made = content if made is None else made
    download = {"url": f"{server.address}/{name}", "file": name}
    if has_digest:
        download |= {"size": len(content), "sha256": digest(content)}
    file = {"path": path, "source": name, "size": len(made), "sha256": digest(made)} | more
    return DataSet(name="small", title="t", licence="CC0", users="anyone", downloads=[download], files=[file])


def fetch(entry, data, **more):
    return Fetcher(data, pause=0.0, **more).fetch(entry)


def write_part(tmp_path, content):
    """Create a partial download and return its path."""
    path = tmp_path / "cache" / "downloads" / "small" / "a.txt.part"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def fetched(data):
    """Return the content of the fetched file."""
    return lzma.decompress((data / "texts" / "a.txt.xz").read_bytes())


def error_code(function, *arguments, **more):
    with pytest.raises(UserError) as caught:
        function(*arguments, **more)
    return caught.value.code


def make_tar(members):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members:
            about = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return packed.getvalue()


def make_zip(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return packed.getvalue()


def archive_set(server, content, trees, *, name="c.tar.gz", **more):
    size, whole = digest_members(trees)
    more = {"members": ["trees/*.mrg"], "size": size, "sha256": whole} | more
    return make_data_set(server, content, name=name, path="trees.tar.xz", has_digest=False, **more)


def test_fetches_checks_and_packs_a_file(server, tmp_path):
    entry, actual = make_data_set(server, TEXT), []
    built = fetch(entry, tmp_path / "data", progress=lambda *about: actual.append(about))
    assert built == [tmp_path / "data" / "texts" / "a.txt.xz"]
    assert fetched(tmp_path / "data") == TEXT
    assert ("fetching a.txt", len(TEXT), len(TEXT)) in actual
    assert [*(tmp_path / "cache" / "downloads").rglob("*.*")] == []  # nothing is stored twice
    assert fetch(entry, tmp_path / "data") == [] and len(server.requests) == 1


@pytest.mark.parametrize("has_digest", [True, False])
def test_continues_a_broken_download(server, tmp_path, has_digest):
    server.cut = len(TEXT) // 3
    fetch(make_data_set(server, TEXT, has_digest=has_digest), tmp_path)
    assert fetched(tmp_path) == TEXT
    begins = [int((value or "bytes=0-")[6:-1]) for _, value in server.requests]
    assert len(begins) > 3 and begins[0] == 0 and begins == sorted(set(begins))


def test_gives_up_and_continues_in_a_later_run(server, tmp_path):
    entry = make_data_set(server, TEXT)
    server.cut = 0
    server.statuses = [503]
    assert error_code(fetch, entry, tmp_path) == "D534"
    assert len(server.requests) == 5
    server.requests.clear()
    server.cut = None
    write_part(tmp_path, TEXT[:5000])
    fetch(entry, tmp_path)
    assert server.requests == [("/a.txt", "bytes=5000-")]


def test_restarts_if_the_file_changed_on_the_server(server, tmp_path):
    entry = make_data_set(server, TEXT, has_digest=False)
    server.files["a.txt"] = MORE

    def stop(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(entry, tmp_path, progress=stop)
    server.files["a.txt"], server.etag = TEXT, '"2"'
    fetch(entry, tmp_path)
    assert fetched(tmp_path) == TEXT


@pytest.mark.parametrize(("etag", "ranges", "part"), [("", True, b"x" * 5000), ('"1"', False, TEXT[:5000])])
def test_restarts_if_the_digest_differs_or_without_ranges(server, tmp_path, etag, ranges, part):
    server.etag, server.ranges = etag, ranges
    write_part(tmp_path, part)
    fetch(make_data_set(server, TEXT), tmp_path)
    assert [start for _, start in server.requests] == ["bytes=5000-", None][: 1 + ranges]
    assert fetched(tmp_path) == TEXT


def test_does_not_fetch_a_complete_download_again(server, tmp_path):
    for has_digest in (True, False):
        entry = make_data_set(server, TEXT, has_digest=has_digest, path=f"{has_digest}.txt")
        source = {"url": f"{server.address}/a.txt", "version": '"1"'}
        write_part(tmp_path, TEXT).with_name("a.txt.part.json").write_text(json.dumps(source))
        fetch(entry, tmp_path)
    assert server.requests == [("/a.txt", f"bytes={len(TEXT)}-")]


def test_rejects_wrong_files_and_leaves_nothing(server, tmp_path):
    entry = make_data_set(server, TEXT)
    for content in (TEXT[:-1] + b"!", TEXT[:-1], TEXT + b"!"):
        server.files["a.txt"] = content
        for unchecked in (False, True):  # the digest of the download is known
            assert error_code(fetch, entry, tmp_path / "data", unchecked=unchecked) == "D535"
    assert not [*(tmp_path / "data").rglob("*.xz")]


def test_checks_the_resulting_file_if_the_download_has_no_digest(server, tmp_path):
    entry, messages = make_data_set(server, TEXT, has_digest=False), []
    server.files["a.txt"] = TEXT + b"!"
    assert error_code(fetch, entry, tmp_path / "data") == "D539"
    assert not [*(tmp_path / "data").rglob("*.*")]
    assert len(fetch(entry, tmp_path / "data", unchecked=True, tell=messages.append)) == 1
    assert len(messages) == 1 and "accepted" in messages[0]
    assert error_code(fetch, entry, tmp_path / "data") == "D539"  # it exists, but differs
    assert fetch(entry, tmp_path / "data", unchecked=True) == []


def test_retries_by_status(server, tmp_path):
    entry = make_data_set(server, TEXT)
    server.statuses = [500, 429]
    fetch(entry, tmp_path)
    assert len(server.requests) == 3
    server.files.clear()
    server.requests.clear()
    assert error_code(fetch, entry, tmp_path / "other") == "D534" and len(server.requests) == 1


def test_uses_proxies_of_the_environment(server, tmp_path, monkeypatch):
    entry = make_data_set(server, TEXT)
    download = entry.downloads[0].model_copy(update={"url": "http://corpora.invalid/a.txt"})
    monkeypatch.setenv("http_proxy", server.address)
    monkeypatch.setenv("no_proxy", "")
    fetch(entry.model_copy(update={"downloads": (download,)}), tmp_path)
    assert server.requests == [("http://corpora.invalid/a.txt", None)]


def test_checks_local_downloads(server, tmp_path):
    entry, local = make_data_set(server, TEXT), tmp_path / "local"
    local.mkdir()
    assert error_code(fetch, entry, tmp_path / "data", local=local) == "D534"
    (local / "a.txt").write_bytes(MORE)
    assert error_code(fetch, entry, tmp_path / "data", local=local) == "D535"
    (local / "a.txt").write_bytes(TEXT)
    assert len(fetch(entry, tmp_path / "data", local=local)) == 1
    assert server.requests == [] and (local / "a.txt").read_bytes() == TEXT


def test_selects_sentences_of_a_genre(server, tmp_path):
    def sentence(genre, number):
        return f"# sent_id = {genre}-x-{number}\n# text = It rains.\n1\tIt\n2\trains\n3\t.\n\n".encode()

    content = b"".join(sentence(genre, n) for n in range(3) for genre in ("blog", "blogs", "mail"))
    built = b"".join(sentence("blog", n) for n in range(3))
    entry = make_data_set(server, content, name="t.conllu", path="t/blog.conllu.xz", made=built, genre="blog")
    [path] = fetch(entry, tmp_path)
    assert lzma.decompress(path.read_bytes()) == built


TREES = [("trees/a.mrg", b"(S (NP it) (VP rains))"), ("trees/b/c.mrg", b"(S (VP go))")]


@pytest.mark.parametrize("make_archive, name", [(make_tar, "c.tar.gz"), (make_zip, "c.zip")])
def test_repacks_members_of_archives(server, tmp_path, make_archive, name):
    inside = [(f"corpus-1/{short}", content) for short, content in TREES]
    content = make_archive([*inside, ("corpus-1/README", b"-"), ("other/trees/a.mrg", b"-")])
    [path] = fetch(archive_set(server, content, TREES, name=name, below="corpus-1/"), tmp_path)
    with tarfile.open(path) as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}
    assert members == dict(TREES)
    # the same, from files in another order, is accepted: the digest is of the sorted list
    assert digest_members(TREES[::-1]) == digest_members(TREES)


def link(name, kind=tarfile.SYMTYPE):
    about = tarfile.TarInfo(name)
    about.type, about.linkname = kind, "/etc/passwd"
    return about


def zipped_link():
    about = zipfile.ZipInfo("trees/x.mrg")
    about.external_attr = 0o120777 << 16
    return make_zip([(about, b"/etc/passwd")])


def zip_with_a_wrong_size():
    content = bytearray(make_zip([("trees/a.mrg", bytes(5000))]))
    where = content.rindex(b"PK\x01\x02") + 24  # the size in the directory at the end of the file
    content[where : where + 4] = (100).to_bytes(4, "little")
    return bytes(content)


BAD_ARCHIVES = {
    "up.tar.gz": make_tar([*TREES, ("trees/../../x.mrg", b"x")]),
    "root.tar.gz": make_tar([*TREES, ("/trees/x.mrg", b"x")]),
    "link.tar.gz": make_tar([*TREES, (link("trees/x.mrg"), b"")]),
    "device.tar.gz": make_tar([*TREES, (link("trees/x.mrg", tarfile.CHRTYPE), b"")]),
    "twice.tar.gz": make_tar([*TREES, TREES[0]]),
    "short.tar.gz": make_tar(TREES)[:-40],
    "other.tar.gz": b"no archive",
    "up.zip": make_zip([("trees/../../x.mrg", b"x")]),
    "link.zip": zipped_link(),
    "wrong size.zip": zip_with_a_wrong_size(),
}


@pytest.mark.parametrize("name", BAD_ARCHIVES)
def test_rejects_unsafe_and_damaged_archives(server, tmp_path, name):
    entry = archive_set(server, BAD_ARCHIVES[name], TREES, name=name.replace(" ", "_"), members=["*"])
    for unchecked in (False, True):
        assert error_code(fetch, entry, tmp_path / "data", unchecked=unchecked) == "D538"
    assert not [*(tmp_path / "data").rglob("*.*")]


def test_does_not_write_more_than_the_expected_size(server, tmp_path):
    compressed = gzip.compress(bytes(5_000_000))
    entry = make_data_set(server, compressed, name="a.gz", path="a.txt", made=TEXT)
    assert error_code(fetch, entry, tmp_path / "data") == "D539"
    big = make_tar([("trees/a.mrg", bytes(5_000_000))])
    assert error_code(fetch, archive_set(server, big, TREES), tmp_path / "data") == "D539"
    assert not [*(tmp_path / "data").rglob("*.*")]


VALID = """
title = "t"
licence = "CC0"
users = "anyone"
[[downloads]]
url = "https://example.org/a.txt"
file = "a.txt"
[[files]]
path = "texts/a.txt"
source = "a.txt"
size = 3
sha256 = "{digest}"
""".replace("{digest}", "0" * 64)


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("texts/a.txt", "../a.txt", "inside the data directory"),
        ("texts/a.txt", "/a.txt", "inside the data directory"),
        ("texts/a.txt", "c:/a.txt", "inside the data directory"),
        ("https://", "file://", "http"),
        ('file = "a.txt"', 'file = "b/a.txt"', "plain file name"),
        ('source = "a.txt"', 'source = "b.txt"', "no download"),
        ("size = 3", "size = -3", "size"),
        ("0" * 64, "0" * 63, "sha256"),
        ('users = "anyone"', "", "users"),
        ('title = "t"', 'title = "t"\nextra = 1', "extra"),
        ('title = "t"', 'title = "t', ""),
        ("[[downloads]]", "[[unknown]]", "unknown"),
    ],
)
def test_rejects_invalid_manifests(tmp_path, old, new, words):
    path = tmp_path / "small.toml"
    path.write_text(VALID, encoding="utf8")
    assert read_manifest(path).name == "small"
    path.write_text(VALID.replace(old, new), encoding="utf8")
    with pytest.raises(UserError) as caught:
        read_manifest(path)
    assert caught.value.code == "D537" and words in str(caught.value) and "\n" not in str(caught.value)


def test_manifests_of_the_project_cover_the_files_of_experiments():
    entries = data_sets()
    assert {"ewt", "conll2000", "english", "japanese", "senseval2"} <= set(entries)
    paths = [path for entry in entries.values() for path in entry.paths]
    assert len(paths) == len(set(paths))
    for entry in entries.values():
        assert entry.downloads or entry.how
        assert all(download.url.startswith("https://") for download in entry.downloads)
    for name, entry in registry.entries("experiments").items():
        for pattern in entry.load()().needs:
            assert data_advice([pattern]), (name, pattern)


def test_advice_names_the_command(monkeypatch):
    assert data_advice(["labelled/qa-it/*.tsv"]) == "`disambig data get qa-it` fetches it"
    assert "`disambig data show senseval2`" in data_advice(["labelled/senseval2/key*"])
    assert data_advice(["nowhere/*"]) == ""


DATA = os.environ.get("DISAMBIG_DATA")


@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_local_data_have_the_digests_of_the_manifests(tmp_path):
    """This includes the development part of the treebank, which is concatenated from its genres."""
    entries, data = data_sets(), Path(str(DATA))
    for name in ("conll2000", "craft", "qa-it", "ptb-sample"):
        assert fetch(entries[name], data) == []
    ewt = entries["ewt"]
    download = next(download for download in ewt.downloads if "dev" in download.file)
    files = tuple(file for file in ewt.files if file.source == download.file)
    whole = b"".join(lzma.decompress((data / file.path).read_bytes()) for file in files)
    (tmp_path / download.file).write_bytes(whole)
    part = ewt.model_copy(update={"downloads": (download,), "files": files})
    assert len(fetch(part, tmp_path / "data", local=tmp_path)) == len(files) == 5


run = partial(exit_status, "data")


@pytest.fixture
def manifest(server, tmp_path, monkeypatch):
    """Write a manifest of a data set on the local server for the commands."""
    server.files["a.txt"] = b"abc"
    folder = tmp_path / "more" / "disambig_data"
    folder.mkdir(parents=True)
    text = VALID.replace("https://example.org", server.address).replace("0" * 64, digest(b"abc"))
    (folder / "small.toml").write_text(text, encoding="utf8")
    monkeypatch.syspath_prepend(str(tmp_path / "more"))
    return folder / "small.toml"


def test_command_lists_fetches_and_shows(manifest, tmp_path, capsys):
    assert run("list") == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["small"] == "get        t (CC0; anyone)" and lines["english"].startswith("make ")
    assert run("get", "small") == 0
    output = capsys.readouterr()
    assert output.out == "" and "small: CC0; anyone" in output.err
    assert "small: 1 files written, 0 were already there" in output.err
    assert (tmp_path / "cache" / "data" / "texts" / "a.txt").read_bytes() == b"abc"
    assert run("list", "--json") == 0
    assert '"missing": []' in capsys.readouterr().out
    assert run("get", "small") == 0
    assert "small: 0 files written, 1 were already there" in capsys.readouterr().err
    assert run("show", "small") == 0
    shown = capsys.readouterr().out
    assert "missing: 0 of 1 files" in shown and digest(b"abc") in shown and "digest not known" in shown
    assert shown.endswith(f"content: 3 bytes, SHA-256 {digest(b'abc')}\n")


def test_the_directory_is_that_of_the_option_the_environment_or_the_default(
    manifest, tmp_path, monkeypatch, capsys
):
    def state(*options):
        assert run("list", *options) == 0
        return dict(line.split()[:2] for line in capsys.readouterr().out.splitlines())["small"]

    here, there = tmp_path / "cache" / "data", tmp_path / "other"
    (here / "texts").mkdir(parents=True)
    (here / "texts" / "a.txt").write_bytes(b"abc")
    assert state() == "there" and state("--data", there) == "get"
    monkeypatch.setenv("DISAMBIG_DATA", str(there))
    assert state() == "get" and state("--data", here) == "there"
    made = 'how = "Make it."\nprovides = ["texts/b.txt"]\n'
    manifest.write_text(made + manifest.read_text(encoding="utf8"), encoding="utf8")
    assert state("--data", here) == "partly"


def test_command_reports_errors_in_one_line(manifest, server, tmp_path, capsys):
    server.files["a.txt"] = b"abd"
    for arguments, code in (
        (("get", "none"), "D533"),
        (("show", "none"), "D533"),
        (("get", "english"), "D536"),
        (("get", "small", "--from", tmp_path), "D534"),
        (("get", "small", "-q"), "D539"),
    ):
        assert run(*arguments) == 2
        output = capsys.readouterr()
        assert output.out == "" and f"[{code}]" in output.err.splitlines()[-1]
    assert output.err.count("\n") == 1  # quiet: only the problem
    manifest.write_text("title = 1", encoding="utf8")
    assert run("list") == 2
    assert "[D537]" in capsys.readouterr().err
