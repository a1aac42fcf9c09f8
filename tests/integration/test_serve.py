"""``disambig serve`` and its clients."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from urllib.parse import urlencode

import httpx
import language_tool_python
import pytest
from commands import here
from language_tool_python.exceptions import LanguageToolError
from running_server import FAKE, running

TEXT = "It lasted during 1997 to 2001. It was a quite place."
FORM = urlencode({"language": "en", "text": TEXT})


@pytest.fixture(scope="module")
def server():
    with running(
        "--client-timeout", "0.5", "--max-text", "200000", "--max-clients", "80", fake=True
    ) as result:
        yield result


def ask(port, method="POST", path="/v2/check", body=FORM):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def lives(server):
    port, process = server
    status, body = ask(port)
    return process.poll() is None and status == 200 and len(json.loads(body)["matches"]) == 2


def until(holds):
    """Tell whether something holds soon."""
    end = time.monotonic() + 20
    while not (result := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return result


def raw(port, data, most=sys.maxsize):
    """Send bytes and return what comes back: all until the server closes, or the first bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(data)
        result = b""
        try:
            while len(result) < most and (part := client.recv(65536)):
                result += part
        except ConnectionResetError:
            pass
        return result


@pytest.mark.parametrize("path", ["/v2/check", "/annotate"])
def test_a_client_that_sends_far_too_much_gets_the_reason(server, path):
    """It sends all before it reads; the server must not close the connection while it does."""
    status, answer = ask(server[0], path=path, body=b"a" * 50_000_000)
    assert (status, answer[:13]) == (413, "Error: [D885]")
    assert lives(server)


def test_many_clients_at_once_are_all_answered(server):
    result = []

    def client():
        result.extend(ask(server[0]) for _ in range(5))

    clients = [threading.Thread(target=client) for _ in range(64)]
    for item in clients:
        item.start()
    for item in clients:
        item.join(60)
    assert len(result) == 320
    assert {status for status, _ in result} == {200}
    assert len({body for _, body in result}) == 1


def test_more_connections_than_allowed_are_a_503(server):
    held = [socket.create_connection(("127.0.0.1", server[0])) for _ in range(80)]
    try:
        assert until(lambda: ask(server[0])[0] == 503)
    finally:
        for item in held:
            item.close()
    assert until(lambda: ask(server[0])[0] == 200)
    assert lives(server)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\n",
        b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nlanguage=en",
        b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nlangu\r\n",
        b"GET /v2/info HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v2/in",
    ],
    ids=["nothing", "half a head", "half a body", "half a chunk", "half a second request"],
)
def test_a_client_that_stops_is_dropped(server, data):
    began = time.monotonic()
    raw(server[0], data)
    assert time.monotonic() - began < 15
    assert lives(server)


def test_a_client_that_sends_a_byte_at_a_time_is_dropped(server):
    with socket.create_connection(("127.0.0.1", server[0]), timeout=20) as client, pytest.raises(OSError):
        for _ in range(100):
            client.sendall(b"G")
            time.sleep(0.1)
    assert lives(server)


def test_a_client_that_reads_nothing_is_dropped(server):
    body = json.dumps({"text": "quite " * 30_000}).encode()  # some 10 MB of records
    head = f"POST /annotate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(20)
        client.connect(("127.0.0.1", server[0]))
        client.sendall(head + body)
        time.sleep(3)
        result = b""
        with suppress(ConnectionResetError):
            while part := client.recv(1 << 20):
                result += part
    whole = re.search(rb"content-length: (\d+)", result)
    assert len(result) < int(whole[1])  # it was given up
    assert lives(server)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00", b"400"),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", b"403"),
        (b"GET /v2/info HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n", b"400"),
        (b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", b"400"),
        (
            b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n",
            b"200",
        ),
    ],
    ids=["TLS", "host", "long head", "long body", "length", "socket"],
)
def test_errors_in_forms(server, data, status):
    assert raw(server[0], data, most=13)[:13].partition(b" ")[2][:3] == status
    assert lives(server)


def test_a_long_body_without_a_length_is_not_read_forever(server):
    with socket.create_connection(("127.0.0.1", server[0]), timeout=20) as client:
        client.sendall(b"POST /annotate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        sent, result = 0, b""
        try:
            while sent < 1 << 29:
                client.sendall(b"10000\r\n" + b"a" * 0x10000 + b"\r\n")
                sent += 0x10000
        except OSError:
            pass
        with suppress(OSError):
            result = client.recv(65536)
    assert sent < 1 << 28
    assert result[9:12] in (b"413", b"")  # what arrived may be lost, since it still sent
    assert lives(server)


def test_a_client_that_disconnects_early(server):
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server[0])) as client:
            head = f"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(FORM)}\r\n\r\n"
            client.sendall(head.encode() + FORM.encode())
    assert lives(server)


def test_no_text_is_logged_and_it_ends_well(tmp_path):
    log = []
    secret = "Zanzibarian quite place RAISE"
    with running(fake=True, log=log, folder=tmp_path) as (port, process):
        assert ask(port, body=urlencode({"language": "en", "text": secret}))[0] == 500
        assert ask(port, body=urlencode({"language": "Zanzibarian", "text": TEXT}))[0] == 400
        assert ask(port, "GET", "/v2/check?language=en&text=Zanzibarian")[0] == 200
        assert ask(port, path="/Zanzibarian")[0] == 404
        assert raw(port, b"Zanzibarian\r\n\r\n")[9:12] == b"400"
    assert process.returncode == 0
    assert len(log) == 1
    assert "listening on http://127.0.0.1:" in log[0]
    assert sorted(tmp_path.iterdir()) == []


def test_an_empty_settings_file_is_not_named(tmp_path):
    (tmp_path / "disambig.toml").write_text("")
    log = []
    with running(fake=True, log=log, folder=tmp_path):
        pass
    assert log and not any("disambig.toml" in line for line in log)


def test_a_request_that_came_is_answered_before_the_end():
    with running(fake=True) as (port, process):
        answers = []
        body = json.dumps({"documents": [{"text": f"{TEXT} SLOW"}] * 20})  # a second
        client = threading.Thread(target=lambda: answers.append(ask(port, path="/annotate", body=body)))
        client.start()
        time.sleep(0.4)
        process.send_signal(signal.SIGINT)
        client.join(20)
        assert process.wait(20) == 0
    assert answers[0][0] == 200


def test_settings_of_the_folder_hold_and_are_named(tmp_path):
    (tmp_path / "disambig.toml").write_text('ignore = ["quite"]\n')
    log = []
    with running(fake=True, log=log, folder=tmp_path) as (port, _):
        (match,) = json.loads(ask(port)[1])["matches"]
    assert match["rule"]["id"] == "DISAMBIG_PREPOSITION"
    assert any("disambig.toml" in line for line in log)


def test_wrong_settings_and_options_are_a_line(tmp_path):
    (tmp_path / "disambig.toml").write_text("ignored = []\n")
    result = subprocess.run(
        [sys.executable, str(FAKE), "serve", "--port", "0"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (result.returncode, result.stderr[:16]) == (2, "disambig: [D970]")
    assert here("serve", "--allow-origin", "*").stderr.startswith("disambig: [D882]")
    assert here("serve", "--host", "no such host").stderr.startswith("disambig: [D881]")


def test_a_port_in_use_is_a_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = here("serve", "--port", taken.getsockname()[1])
    assert done.returncode == 2
    assert done.stderr.startswith("disambig: [D881] cannot listen on 127.0.0.1:")
    assert done.stderr.count("\n") == 1


def test_without_the_extra_it_is_named():
    missing = "import sys; sys.modules.update(starlette=None, uvicorn=None)"
    code = f"{missing}; from disambig.cli.main import run; run(['serve'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "pip install 'starlette>=0.40' 'uvicorn>=0.30'" in done.stderr


CLIENT_TEXT = "\U0001f600 It lasted during 1997 to 2001. It was a quite place."
FLAGGED = ["during", "quite"]


@pytest.fixture(scope="module")
def address():
    with running(fake=True) as (port, _):
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("base", ["", "/", "/v2", "/v2/"])
def test_language_tool_python(address, base):
    tool = language_tool_python.LanguageTool("en-US", remote_server=address + base)
    try:
        first, second = tool.check("It lasted during 1997 to 2001. It was a quite place.")
        assert (first.rule_id, second.rule_id) == ("DISAMBIG_PREPOSITION", "DISAMBIG_SPELLING")
        assert second.replacements == ["quiet"]
        assert second.category == "MISC"
        assert second.matched_text == "quite"
        corrected = tool.correct("It lasted during 1997 to 2001. It was a quite place.")
        assert corrected == "It lasted from 1997 to 2001. It was a quiet place."
        tool.disabled_rules = {"DISAMBIG_SPELLING"}
        tool.picky = True
        tool.mother_tongue = "en"
        assert [match.rule_id for match in tool.check("It was a quite place during 1997.")] == [
            "DISAMBIG_PREPOSITION"
        ]
    finally:
        tool.close()


def test_language_tool_python_with_auto(address):
    with language_tool_python.LanguageTool("auto", remote_server=address) as tool:
        assert len(tool.check("It was a quite place.")) == 1
        tool.preferred_variants = {"en-GB", "de-AT"}
        assert len(tool.check("It was a quite place.")) == 1
        tool.preferred_variants = {"en"}
        with pytest.raises(LanguageToolError, match="invalid format"):
            tool.check("It was a quite place.")


MATCH = {
    "context": {"length": int, "offset": int, "text": str},
    "contextForSureMatch": int,
    "ignoreForIncompleteSentence": bool,
    "length": int,
    "message": str,
    "offset": int,
    "replacements": [{"value": str}],
    "rule": {"id": str, "description": str, "issueType": str, "category": {"id": str, "name": str}},
    "sentence": str,
    "shortMessage": str,
    "type": {"typeName": str},
}
ANSWER = {
    "software": dict.fromkeys(("name", "version", "buildDate", "premiumHint", "status"), str)
    | {"apiVersion": int, "premium": bool},
    "warnings": {"incompleteResults": bool},
    "language": {
        "code": str,
        "name": str,
        "detectedLanguage": {"code": str, "name": str, "confidence": float, "source": str},
    },
    "matches": [MATCH],
}
"""All keys that `/v2/check` answers with, and the types of their values, as typed clients expect them."""


def has_shape(value, shape):
    """Return True if a value has exactly these keys and types."""
    if isinstance(shape, dict):
        return value.keys() == shape.keys() and all(has_shape(value[key], shape[key]) for key in shape)
    if isinstance(shape, list):
        return all(has_shape(item, shape[0]) for item in value)
    return type(value) is shape


def units(text, start, length):
    return text.encode("utf-16-le")[2 * start :][: 2 * length].decode("utf-16-le")


@pytest.mark.parametrize(
    "sent",
    [
        {"text": CLIENT_TEXT},
        {"data": json.dumps({"text": CLIENT_TEXT})},
        {"data": json.dumps({"annotation": [{"text": CLIENT_TEXT[:20]}, {"text": CLIENT_TEXT[20:]}]})},
    ],
    ids=["text", "data with text", "annotated"],
)
def test_a_strict_client_reads_every_field(address, sent):
    answer = httpx.post(f"{address}/v2/check", data={"language": "en-GB", **sent})
    read = answer.json()
    assert has_shape(read, ANSWER), read
    assert read["language"]["code"] == "en-GB"
    assert [units(CLIENT_TEXT, match["offset"], match["length"]) for match in read["matches"]] == FLAGGED
    for match, word in zip(read["matches"], FLAGGED, strict=True):
        around = match["context"]
        assert units(around["text"], around["offset"], around["length"]) == word
        assert match["sentence"] in CLIENT_TEXT
        assert match["replacements"]


def test_corrections_applied_from_the_end_give_the_right_text(address):
    text = f"<!-- x -->{CLIENT_TEXT}"
    pieces = [{"markup": "<!-- x -->"}, {"text": CLIENT_TEXT}]
    answer = httpx.post(
        f"{address}/v2/check", data={"language": "en", "data": json.dumps({"annotation": pieces})}
    )
    whole = text.encode("utf-16-le")
    for match in reversed(answer.json()["matches"]):
        start, end = 2 * match["offset"], 2 * (match["offset"] + match["length"])
        whole = whole[:start] + match["replacements"][0]["value"].encode("utf-16-le") + whole[end:]
    assert whole.decode("utf-16-le") == text.replace("during", "from").replace("quite", "quiet")
