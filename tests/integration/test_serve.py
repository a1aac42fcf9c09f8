"""``disambig serve`` as a process: start and end; clients that are slow, many or wrong; what is logged."""

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

import pytest
from commands import here
from running_server import FAKE, running

TEXT = "It lasted during 1997 to 2001. It was a quite place."
FORM = urlencode({"language": "en", "text": TEXT})


@pytest.fixture(scope="module")
def server():
    with running(
        "--client-timeout", "0.5", "--max-text", "200000", "--max-clients", "80", fake=True
    ) as found:
        yield found


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
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def raw(port, data):
    """Send bytes and return all that comes back, until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(data)
        found = b""
        try:
            while part := client.recv(65536):
                found += part
        except ConnectionResetError:
            pass
        return found


def test_many_clients_at_once_are_all_answered(server):
    found = []

    def client():
        found.extend(ask(server[0]) for _ in range(5))

    clients = [threading.Thread(target=client) for _ in range(64)]
    for each in clients:
        each.start()
    for each in clients:
        each.join(60)
    assert len(found) == 320
    assert {status for status, _ in found} == {200}
    assert len({body for _, body in found}) == 1


def test_more_connections_than_allowed_are_a_503(server):
    held = [socket.create_connection(("127.0.0.1", server[0])) for _ in range(80)]
    try:
        assert until(lambda: ask(server[0])[0] == 503)
    finally:
        for each in held:
            each.close()
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
        found = b""
        with suppress(ConnectionResetError):
            while part := client.recv(1 << 20):
                found += part
    whole = re.search(rb"content-length: (\d+)", found)
    assert len(found) < int(whole[1])  # it was given up
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
def test_what_is_wrong_below_the_forms(server, data, status):
    assert raw(server[0], data)[:13].partition(b" ")[2][:3] == status
    assert lives(server)


def test_a_long_body_without_a_length_is_not_read_whole(server):
    with socket.create_connection(("127.0.0.1", server[0]), timeout=20) as client:
        client.sendall(b"POST /annotate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        sent, found = 0, b""
        try:
            while sent < 1 << 26:
                client.sendall(b"10000\r\n" + b"a" * 0x10000 + b"\r\n")
                sent += 0x10000
        except OSError:
            pass
        with suppress(OSError):
            found = client.recv(65536)
    assert sent < 1 << 25
    assert found[9:12] in (b"413", b"")
    assert lives(server)


def test_who_leaves_before_the_answer_harms_nobody(server):
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


@pytest.mark.parametrize("settings", ["", 'ignore = ["fewer"]\n'])
def test_a_settings_file_of_the_directory_is_named(tmp_path, settings):
    (tmp_path / "disambig.toml").write_text(settings)
    log = []
    with running(fake=True, log=log, folder=tmp_path):
        pass
    assert any("disambig.toml" in line for line in log) == bool(settings)


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


def test_settings_of_the_folder_hold(tmp_path):
    (tmp_path / "disambig.toml").write_text('ignore = ["quite"]\n')
    with running(fake=True, folder=tmp_path) as (port, _):
        (match,) = json.loads(ask(port)[1])["matches"]
    assert match["rule"]["id"] == "DISAMBIG_PREPOSITION"


def test_wrong_settings_and_options_are_a_line(tmp_path):
    (tmp_path / "disambig.toml").write_text("ignored = []\n")
    found = subprocess.run(
        [sys.executable, str(FAKE), "serve", "--port", "0"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (found.returncode, found.stderr[:16]) == (2, "disambig: [D970]")
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


def test_without_the_extra_it_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = here("serve")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "pip install 'starlette>=0.40' 'uvicorn>=0.30'" in done.stderr
