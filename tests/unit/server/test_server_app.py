"""The web server: its requests and answers, other models that it serves, and its OpenAPI document."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import pytest
from fake_checker import TEXT, fake_checker

from disambig.checking import Flag, flag_question
from disambig.configuration import CheckSettings
from disambig.data import PrecisionEstimate
from disambig.errors import UserError
from disambig.packs import available
from disambig.server import BASES, AllowedOrigins, ModelThread, ServerChecker, ServerLimits, make_app, openapi

FORM = {"language": "en-US", "text": TEXT}


def check(ask, text=TEXT, **fields):
    answer = ask("POST", "/v2/check", data={**FORM, "text": text, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()["matches"]


def test_matches_have_the_fields_of_strict_clients(ask):
    answer = ask("POST", "/v2/check", data={"language": "auto", "text": TEXT}).json()
    assert answer["software"]["apiVersion"] == 1
    assert answer["software"]["premium"] is False
    assert answer["warnings"] == {"incompleteResults": False}
    assert answer["language"]["detectedLanguage"]["code"] == answer["language"]["code"] == "en"
    first, second = answer["matches"]
    assert TEXT[first["offset"] :][: first["length"]] == "during"
    assert (second["offset"], second["length"]) == (TEXT.index("quite"), 5)
    assert second["replacements"] == [{"value": "quiet"}]  # not measured
    assert second["message"] == "Did you mean “quiet” in place of “quite”? (spelling)"
    assert second["context"]["text"][second["context"]["offset"] :][:5] == "quite"
    assert second["sentence"] == "It was a quite place."
    assert second["rule"]["id"] == "DISAMBIG_SPELLING"
    assert set(second["rule"]["category"]) == {"id", "name"}
    assert [item["value"] for item in first["replacements"]][:2] == ["from", "in"]


@pytest.mark.skipif("spelling" not in available(), reason="needs a model that knows its language")
def test_detects_the_language_of_most_of_a_text(ask):
    checker = ServerChecker.from_settings(CheckSettings(tasks=("spelling",)))
    german = "Das ist nicht gut, und es wird auch nicht besser in a quite place.\n\n"
    english = "We live in a quite place. The house is old, and it has a garden with many tall trees.\n"
    for text, code, n in ((german * 2, "de", 0), (german + english, "en", 1)):
        data = {"language": "en", "text": text}
        answer = ask("POST", "/v2/check", data=data, serving={"checker": checker}).json()
        detected = answer["language"]["detectedLanguage"]
        assert (answer["language"]["code"], detected["code"], len(answer["matches"])) == ("en", code, n)


def test_offsets_are_utf16_units(ask):
    text = f"\U0001f600 e\u0301 {TEXT}"
    first = check(ask, text)[0]
    whole = text.encode("utf-16-le")
    assert whole[2 * first["offset"] :][: 2 * first["length"]].decode("utf-16-le") == "during"


def test_offsets_include_markup(ask):
    pieces = [{"markup": "<p>"}, {"text": "It was a "}, {"markup": "<b>"}, {"text": "quite"}]
    pieces += [{"markup": "</b>"}, {"text": " place"}, {"markup": "<br>", "interpretAs": "\n"}, {"text": "x"}]
    answer = ask("POST", "/v2/check", data={"language": "en", "data": json.dumps({"annotation": pieces})})
    (match,) = answer.json()["matches"]
    assert (match["offset"], match["length"]) == (len("<p>It was a <b>"), 5)
    assert match["context"]["text"].startswith("<p>It was a <b>quite</b> place<br>")


def test_does_not_flag_words_with_markup_inside(ask):
    pieces = [{"text": "It was a qu"}, {"markup": "<i>"}, {"text": "ite place"}]
    answer = ask("POST", "/v2/check", data={"language": "en", "data": json.dumps({"annotation": pieces})})
    assert answer.json()["matches"] == []


def test_comments_suppress_flags(ask):
    assert len(check(ask, f"<!-- disambig: ignore quite -->\n{TEXT}")) == 1
    pieces = [{"markup": "% disambig: off\n", "interpretAs": "\n"}, {"text": TEXT}]
    answer = ask("POST", "/v2/check", data={"language": "en", "data": json.dumps({"annotation": pieces})})
    assert answer.json()["matches"] == []


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        ({"disabledRules": "DISAMBIG_SPELLING, OTHER"}, ["PREPOSITION"]),
        ({"enabledRules": "DISAMBIG_SPELLING"}, ["PREPOSITION", "SPELLING"]),
        ({"enabledRules": "DISAMBIG_SPELLING", "enabledOnly": "true"}, ["SPELLING"]),
        ({"enabledCategories": "NONE", "enabledOnly": "yes"}, []),
        ({"disabledCategories": "CONFUSED_WORDS"}, ["PREPOSITION"]),
        ({"disabledCategories": "CONFUSED_WORDS", "enabledRules": "disambig_spelling"}, None),
        ({"mode": "textLevelOnly"}, []),
        ({"mode": "allButTextLevelOnly", "level": "picky"}, ["PREPOSITION", "SPELLING"]),
        ({"mode": "TEXTLEVELONLY"}, []),
        ({"mode": "", "level": " Default"}, None),
        ({"flagsPer1000": "0"}, []),
        ({"useragent": "x", "unknown": "y", "enabledOnly": "false"}, None),
    ],
)
def test_selects_rules_by_fields(ask, fields, rules):
    result = [item["rule"]["id"].removeprefix("DISAMBIG_") for item in check(ask, **fields)]
    assert result == (["PREPOSITION", "SPELLING"] if rules is None else rules)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"level": "pickey"}, "[D883] invalid 'level' 'pickey': expected one of default, picky, academic"),
        ({"mode": "some"}, "[D883] invalid 'mode' 'some': expected one of all, textLevelOnly, allButText"),
        (
            {"preferredVariants": "en"},
            "[D883] invalid format for 'preferredVariants', expected a dash as in 'en-GB': 'en'",
        ),
        ({"preferredVariants": "en-GB,"}, "[D883] invalid format for 'preferredVariants', expected a dash"),
        ({"preferredVariants": "en-XX"}, "[D884] the language 'en-XX' cannot be checked here"),
        ({"preferredVariants": "en-XX,en-GB"}, "[D884] the language 'en-XX' cannot be checked here"),
    ],
)
def test_rejects_unknown_levels_modes_and_variants(ask, fields, message):
    answer = ask("POST", "/v2/check", data={"language": "auto", "text": TEXT, **fields})
    assert answer.status_code == 400
    assert answer.text.startswith(f"Error: {message}")


@pytest.mark.parametrize(
    ("variants", "fields", "code"),
    [
        ("en-GB", {}, "en-GB"),
        ("de-AT, en-nz,pt-BR", {}, "en-NZ"),
        ("en-US,en-GB", {}, "en-GB"),
        ("de-AT", {}, "en"),
        ("en_GB", {"language": "AUTO"}, "en-GB"),
        ("en-GB", {"language": "en-US", "multilingual": "true"}, "en-US"),
        ("en", {"language": "en-US"}, "en-US"),
    ],
)
def test_preferred_variants(ask, variants, fields, code):
    data = {"language": "auto", "text": TEXT, "preferredVariants": variants, **fields}
    answer = ask("POST", "/v2/check", data=data).json()
    assert answer["language"]["code"] == answer["language"]["detectedLanguage"]["code"] == code
    assert len(answer["matches"]) == 2


BAD = {
    "no language": {"text": "a"},
    "no text": {"language": "en"},
    "both": {"language": "en", "text": "a", "data": '{"text": "a"}'},
    "unknown language": {"language": "xx", "text": "a"},
    "only and disabled": {"language": "en", "text": "a", "enabledOnly": "true", "disabledRules": "A"},
    "only without": {"language": "en", "text": "a", "enabledOnly": "true"},
    "no JSON": {"language": "en", "data": "{"},
    "deep JSON": {"language": "en", "data": "[" * 100_000},
    "no annotation": {"language": "en", "data": "[]"},
    "two in one": {"language": "en", "data": '{"annotation": [{"text": "a", "markup": "b"}]}'},
    "text read as": {"language": "en", "data": '{"annotation": [{"text": "a", "interpretAs": "b"}]}'},
    "neither": {"language": "en", "data": '{"annotation": [{}]}'},
    "no object": {"language": "en", "data": '{"annotation": ["a"]}'},
    "no string": {"language": "en", "data": '{"annotation": [{"text": 1}]}'},
    "half a character": {"language": "en", "data": '{"text": "\\ud800"}'},
    "a rate that is none": {"language": "en", "text": "a", "flagsPer1000": "many"},
    "NUL": {"language": "en", "text": "a\0b"},
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_check_requests_are_a_400(ask, case):
    answer = ask("POST", "/v2/check", data=BAD[case])
    assert answer.status_code == 400
    assert answer.text.startswith("Error: [D88")
    assert "\n" not in answer.text
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


def test_invalid_bytes_are_a_400(ask):
    for body in (b"language=en&text=%ff", b"language=en&text=\xff"):
        assert ask("POST", "/v2/check", content=body).status_code == 400
    assert "the body is not valid UTF-8" in ask("POST", "/annotate", content=b'{"text": "\xff"}').text
    answer = ask("POST", "/v2/check", json={"language": "en"})
    assert answer.status_code == 400 and "/annotate accepts JSON" in answer.text
    for path, body in (("/annotate", b'{"text": "a"}'), ("/v2/check", b"language=en&text=a")):
        compressed = {"content": gzip.compress(body), "headers": {"content-encoding": "gzip"}}
        answer = ask("POST", path, **compressed)
        assert answer.status_code == 400 and "compressed (gzip)" in answer.text
    body = "&".join(f"a{i}=1" for i in range(500))
    assert ask("POST", "/v2/check", content=body).status_code == 400


def test_fields_of_the_body_take_precedence_over_the_query(ask):
    assert len(ask("GET", "/v2/check", params={"language": "en", "text": TEXT}).json()["matches"]) == 2
    answer = ask("POST", "/v2/v2/check", params={"language": "xx"}, data={"language": "en", "text": TEXT})
    assert len(answer.json()["matches"]) == 2


def test_other_endpoints(ask):
    assert ask("GET", "/v2/languages").json()[0] == {"name": "English", "code": "en", "longCode": "en"}
    assert "en-GB" in [item["longCode"] for item in ask("GET", "/v2/v2/languages").json()]
    assert ask("GET", "/v2/info").json()["software"]["name"] == "disambig"
    assert ask("GET", "/v2/healthcheck").text == "OK"
    assert ask("GET", "/v2/maxtextlength", serving={"limits": ServerLimits(max_text=7)}).text == "7"
    rules = ask("GET", "/v2/configinfo", params={"language": "en"}).json()["rules"]
    assert [item["ruleId"] for item in rules] == ["DISAMBIG_PREPOSITION", "DISAMBIG_SPELLING"]
    assert ask("GET", "/v2/configinfo").status_code == 400
    assert ask("GET", "/v2").status_code == 200
    assert ask("GET", "/v2/nothing").status_code == 404
    for method, path, allowed in (("GET", "/annotate", "POST"), ("DELETE", "/v2/check", "GET, HEAD, POST")):
        answer = ask(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
        assert answer.text.startswith("Error: [D890]")
        assert answer.headers["cache-control"] == "no-store"


def test_a_long_text_is_a_413(ask):
    small = {"limits": ServerLimits(max_text=10)}
    for data in ({"text": "a" * 11}, {"data": json.dumps({"annotation": [{"text": "a" * 11}]})}):
        answer = ask("POST", "/v2/check", data={"language": "en", **data}, serving=small)
        assert (answer.status_code, answer.text[:13]) == (413, "Error: [D885]")
    assert ask("POST", "/annotate", json={"text": "a" * 11}, serving=small).status_code == 413
    answer = ask("POST", "/annotate", json={"text": "a" * 100_000}, serving=small)
    assert answer.status_code == 413
    assert "65,536 bytes" in answer.text
    assert answer.headers["connection"] == "close"


def test_annotate_returns_records(ask):
    answer = ask("POST", "/annotate", json={"text": TEXT, "id": "mine"}).json()
    assert (answer["id"], answer["text"], answer["flags"]) == ("mine", TEXT, 2)
    flagged = [item for item in answer["decisions"] if item["flagged"]]
    edits = [(item["observed"], item["replacement"]) for item in flagged]
    assert edits == [("during", "from"), ("quite", "quiet")]
    several = ask("POST", "/annotate", json={"documents": [{"text": "It."}, {"id": "b", "text": "}\n{"}]})
    assert [(item["id"], item["text"]) for item in several.json()] == [("1", "It."), ("b", "}\n{")]
    none = ask("POST", "/annotate", json={"text": TEXT, "flags_per_1000": 0}).json()
    assert none["flags"] == 0
    old = ask("POST", "/annotate", json={"text": TEXT, "id": "mine", "records": 1}).json()
    assert answer["schema"] == "disambig/records/2" and "schema" not in old
    assert ask("POST", "/annotate", json={"text": TEXT, "records": 2}).json()["flags"] == 2
    for version in (0, 3, "1", True, 1.0, [1], None):
        refused = ask("POST", "/annotate", json={"text": TEXT, "records": version})
        assert (refused.status_code, refused.text[:13]) == (400, "Error: [D883]")


def test_limits_the_number_of_flags(ask, monkeypatch):
    monkeypatch.setattr("disambig.server.languagetool.MAX_FLAGS", 3)
    monkeypatch.setattr("disambig.server.app.MAX_FLAGS", 3)
    answer = ask("POST", "/v2/check", data={"language": "en", "text": f"{TEXT} " * 3}).json()
    assert len(answer["matches"]) == 3
    assert answer["warnings"] == {"incompleteResults": True}


def test_limits_the_size_of_a_response(ask, monkeypatch):
    answer = ask("POST", "/annotate", json={"text": f"{TEXT} " * 200})
    assert len(answer.content) == int(answer.headers["content-length"]) > 1 << 17
    assert answer.json()["flags"] == 400
    busy = {"limits": ServerLimits(held=500)}
    assert ask("POST", "/annotate", json={"text": TEXT}, serving=busy).status_code == 503
    monkeypatch.setattr("disambig.server._endpoints.MAX_DECISIONS", 2)
    assert ask("POST", "/annotate", json={"text": TEXT}).status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"text": 1},
        {"text": "a", "documents": []},
        {"documents": []},
        {"documents": ["a"]},
        {"documents": {"text": "a"}},
        {"text": "a", "id": []},
        {"text": "a", "flags_per_1000": -1},
        {"text": "a", "flags_per_1000": True},
        {"text": "a", "flag": 1},
        {"text": "\ud800"},
    ],
    ids=str,
)
def test_invalid_annotate_requests_are_a_400(ask, body):
    answer = ask("POST", "/annotate", content=json.dumps(body))
    assert (answer.status_code, answer.text[:13]) == (400, "Error: [D883]")


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"text": "a", "start": 0, "end": 2, "rule": "DISAMBIG_SPELLING"},
        {"text": "a", "start": True, "end": 1, "rule": "DISAMBIG_SPELLING"},
        {"text": "a", "start": 0, "end": 1},
        {"text": "a", "start": 0, "end": 1, "rule": "OTHER"},
    ],
    ids=str,
)
def test_invalid_explain_requests_are_a_400(ask, body):
    assert ask("POST", "/explain", json=body).status_code == 400


@pytest.mark.skipif("spelling" not in available(), reason="needs a model with rules")
def test_explain_accepts_the_id_and_the_name_of_a_rule(ask):
    serving = {"checker": ServerChecker.from_settings(CheckSettings(tasks=("spelling",)))}
    text = "She ate a peace of cake."
    place = {"text": text, "start": text.index("peace"), "end": text.index(" of")}
    rules = ("DISAMBIG_CONFUSED_WORDS", "confused-words", "spelling")
    answers = [ask("POST", "/explain", json={**place, "rule": rule}, serving=serving) for rule in rules]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert [answer.json()["candidates"][0]["candidate"] for answer in answers] == ["piece"] * 3
    unknown = ask("POST", "/explain", json={**place, "rule": "confused"}, serving=serving)
    assert unknown.status_code == 400 and "unknown rule 'confused'" in unknown.text


def test_a_failing_text_is_a_500_and_not_logged(ask):
    logged = []
    answer = ask("POST", "/v2/check", data=FORM | {"text": "RAISE"}, serving={"report_bug": logged.append})
    assert answer.status_code == 500
    assert answer.text.startswith("Error: ")
    assert "RAISE" not in "".join(logged)


def test_logs_only_the_place_of_a_bug(ask, monkeypatch):
    def wrong(*_, **__):
        raise RuntimeError(f"this holds the text: {TEXT}")

    monkeypatch.setattr("disambig.server.app.check_response", wrong)
    logged = []
    answer = ask("POST", "/v2/check", data=FORM, serving={"report_bug": logged.append})
    assert answer.status_code == 500
    assert "test_server_app.py" in logged[0]
    assert "RuntimeError" in logged[0]
    assert TEXT not in logged[0] + answer.text


def test_accepts_named_origins_only(ask):
    origins = ["https://good.example", "moz-extension://*"]
    named = {"origins": AllowedOrigins.from_options(hosts=[], origins=origins)}
    for origin, status in {
        "http://evil.example": 403,
        "https://good.example.evil.example": 403,
        "null": 403,
        "http://127.0.0.1:9": 403,
        "https://good.example": 200,
        "moz-extension://0c6a": 200,
        "http://127.0.0.1:8081": 200,
    }.items():
        answer = ask("GET", "/v2/info", headers={"origin": origin}, serving=named)
        assert answer.status_code == status, origin
        mine = status == 200 and origin != "http://127.0.0.1:8081"
        assert answer.headers.get("access-control-allow-origin") == (origin if mine else None)
        assert answer.headers.get("access-control-expose-headers") == ("Disambig-Note" if mine else None)
    wrong = ask("POST", "/v2/check", headers={"origin": "https://good.example"}, serving=named)
    assert (wrong.status_code, wrong.headers["access-control-allow-origin"]) == (400, "https://good.example")


def test_preflight_requests(ask):
    named = {"origins": AllowedOrigins.from_options(hosts=[], origins=["https://good.example"])}
    headers = {"origin": "https://good.example", "access-control-request-headers": "content-type"}
    headers["access-control-request-private-network"] = "true"
    answer = ask("OPTIONS", "/v2/check", headers=headers, serving=named)
    assert answer.status_code == 204
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert answer.headers["access-control-allow-private-network"] == "true"
    refused = ask("OPTIONS", "/v2/check", headers={"origin": "http://evil.example"}, serving=named)
    assert refused.status_code == 403


def test_picky_keeps_the_required_precision():
    """A rate would replace it: at other rates, no precision is required."""
    checker, trusting = fake_checker(), fake_checker(least=0.8)
    assert checker.options_for(picky=True).rates == {"preposition": 3.0, "spelling": 3.0}
    assert trusting.options_for(picky=True).rates == trusting.rates
    assert ServerChecker.annotate(trusting, trusting.options_for(picky=True)).least == 0.8
    assert ServerChecker.annotate(trusting, checker.options_for(picky=True)).least is None


def test_page_shows_a_rate_or_a_precision(ask):
    assert 'data-rate="2"' in ask("GET", "/").text
    page = ask("GET", "/", serving={"checker": fake_checker(least=0.8)}).text
    assert 'data-share="0.8"' in page
    assert "data-rate" not in page
    assert 'aria-label="False alarms per 1,000 words"' in page


@pytest.mark.parametrize(
    ("trust", "suffix"),
    [
        (None, "spelling"),
        (PrecisionEstimate(0.912, 0.9, 0.95, 100, "b", "t"), "spelling; 91 % of such flags were right"),
    ],
)
def test_message(trust, suffix):
    flag = Flag(0, 1, 1, 1, "b", "a", "spelling", 0.67, (0, 1, "a"), trust=trust)
    assert flag_question(flag, "“”") == f"Did you mean “a” in place of “b”? ({suffix})"


def test_page_of_rules(ask):
    answer = ask("GET", "/rules")
    assert answer.headers["content-type"].startswith("text/html")
    assert "script" not in answer.headers["content-security-policy"]
    assert '<section id="spelling">' in answer.text and "ignore-next-line[spelling]" in answer.text
    (style,) = re.findall("<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in answer.headers["content-security-policy"]


def test_page_loads_no_other_resources(ask):
    answer = ask("GET", "/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert 'data-rate="2"' in answer.text
    for outside in (" src=", "url(", "@import", "<link rel=stylesheet", "innerHTML", "localStorage"):
        assert outside not in answer.text
    assert ask("HEAD", "/").status_code == 200


def test_ignored_words_and_maximum_of_flags(ask):
    for settings in ({"ignore": frozenset(["quite"])}, {"max_flags_per_1000": 1.0}):
        serving = {"checker": fake_checker(**settings)}
        answer = ask("POST", "/v2/check", data={"language": "en", "text": TEXT}, serving=serving)
        assert [item["rule"]["id"] for item in answer.json()["matches"]] == ["DISAMBIG_PREPOSITION"]


class Shouter:
    """A standalone model that returns the lines of a text in capital letters."""

    formats: ClassVar[tuple[str, ...]] = ("tests.shouter.v1",)
    language = "en"

    @classmethod
    def load(cls, folder: str | Path) -> Shouter:
        return cls()

    def save(self, folder: str | Path) -> None:
        raise NotImplementedError

    def describe(self) -> str:
        return "shouter of lines"

    def records(self, texts, *, n_best: int = 1) -> list[list[dict[str, Any]]]:
        if "fail" in texts[0]:
            raise UserError("D904", value=texts[0])
        if "slow" in texts[0]:
            end = time.thread_time() + 0.1
            while time.thread_time() < end:
                pass
        return [[{"candidates": [line.upper()] * n_best} for line in text.splitlines()] for text in texts]


@pytest.fixture
def serving():
    return {"checker": replace(fake_checker(), standalone={"shouter": Shouter(), "pack/other": Shouter()})}


def test_models_are_listed(ask, serving):
    about = {"description": "shouter of lines", "language": "en"}
    answer = ask("GET", "/models", serving=serving)
    assert answer.json() == [{"name": "shouter", **about}, {"name": "pack/other", **about}]
    assert ask("GET", "/models").json() == []


@pytest.mark.parametrize("name", ["shouter", "pack/other"])
def test_text_is_parsed_by_the_named_model(ask, serving, name):
    answer = ask("POST", f"/models/{name}", json={"text": "one\ntwo", "n_best": 2}, serving=serving)
    assert answer.status_code == 200
    assert answer.json() == [{"candidates": ["ONE", "ONE"]}, {"candidates": ["TWO", "TWO"]}]


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (["text"], "not an object with a string as 'text'"),
        ({"text": 1}, "not an object with a string as 'text'"),
        ({"text": "a", "nbest": 2}, "unknown key 'nbest'; known keys: text, n_best"),
        ({"text": "a", "n_best": 0}, "'n_best' must be an integer from 1 to 100"),
        ({"text": "a", "n_best": 101}, "'n_best' must be an integer from 1 to 100"),
        ({"text": "a", "n_best": True}, "'n_best' must be an integer from 1 to 100"),
    ],
)
def test_invalid_bodies_are_rejected(ask, serving, body, part):
    answer = ask("POST", "/models/shouter", json=body, serving=serving)
    assert answer.status_code == 400
    assert part in answer.text


def test_unknown_models_methods_and_long_texts_are_rejected(ask, serving):
    assert ask("POST", "/models/nobody", json={"text": "a"}, serving=serving).status_code == 404
    assert ask("GET", "/models/shouter", serving=serving).status_code == 405
    few = serving | {"limits": ServerLimits(max_text=3)}
    assert ask("POST", "/models/shouter", json={"text": "four"}, serving=few).status_code == 413
    several = {"text": "abc", "n_best": 2}  # the response has each line twice
    assert ask("POST", "/models/shouter", json=several, serving=few).status_code == 413
    assert ask("POST", "/models/shouter", json=several | {"text": "a"}, serving=few).status_code == 200


def test_a_long_text_is_answered_in_order(ask, serving):
    lines = [f"line {i}" for i in range(1000)]
    answer = ask("POST", "/models/shouter", json={"text": "\n".join(lines)}, serving=serving)
    assert [result["candidates"] for result in answer.json()] == [[line.upper()] for line in lines]


def test_errors_and_slow_models_do_not_end_the_server(ask, serving):
    assert "[D904]" in ask("POST", "/models/shouter", json={"text": "fail"}, serving=serving).text
    short = serving | {"limits": ServerLimits(text_seconds=0.05)}
    answer = ask("POST", "/models/shouter", json={"text": "slow\n" * 1000}, serving=short)
    assert (answer.status_code, answer.text[:14]) == (413, "Error: [D891] ")


DOCUMENT = openapi(ServerLimits(), BASES)
OPERATIONS = {(method, path) for path, operations in DOCUMENT["paths"].items() for method in operations}
START = TEXT.index("quite")
PLACE = {"text": TEXT, "start": START, "end": START + 5, "rule": "DISAMBIG_SPELLING"}
REQUESTS = [
    *(("get", path, {}) for method, path in sorted(OPERATIONS) if method == "get"),
    *(("get", f"{base}/configinfo", {"params": {"language": "en"}}) for base in BASES),
    *(("get", f"{base}/check", {"params": FORM}) for base in BASES),
    *(("post", f"{base}/check", {"data": FORM}) for base in BASES),
    *(("post", path, {"content": b"\xff"}) for method, path in sorted(OPERATIONS) if method == "post"),
    *(("delete", path, {}) for path in DOCUMENT["paths"]),
    *(("get", path, {"headers": {"host": "elsewhere.example"}}) for path in DOCUMENT["paths"]),
    ("post", "/annotate", {"json": {"text": TEXT}}),
    ("post", "/annotate", {"json": {"documents": [{"id": 7, "text": TEXT}, {"text": "none"}]}}),
    ("post", "/annotate", {"json": {"text": "x" * 500_001}}),
    ("post", "/annotate", {"json": {"text": "RAISE"}}),
    ("post", "/explain", {"json": PLACE | {"rule": "no such"}}),
]


def test_publishes_the_document(ask):
    answer = ask("GET", "/openapi.json")
    assert answer.json() == DOCUMENT
    assert DOCUMENT["openapi"].startswith("3.1.")
    names = [item["operationId"] for path in DOCUMENT["paths"].values() for item in path.values()]
    assert len(set(names)) == len(names)


def test_paths_are_the_routes():
    checker = fake_checker()
    worker = ModelThread(checker.annotate)
    app = make_app(checker, worker, limits=ServerLimits(), origins=AllowedOrigins())
    worker.end()
    routes = {
        (method.lower(), route.path.replace(":path", ""))  # names may contain slashes
        for route in app.routes
        for method in route.methods - {"HEAD"}
    }
    assert routes == OPERATIONS


@pytest.mark.parametrize(("method", "path", "request_"), REQUESTS)
def test_responses_conform_to_the_document(ask, method, path, request_):
    answer = ask(method.upper(), path, **request_)
    operations = DOCUMENT["paths"][path]
    operation = operations.get(method) or next(iter(operations.values()))
    ((kind, content),) = operation["responses"][str(answer.status_code)]["content"].items()
    assert answer.headers["content-type"].partition(";")[0] == kind
    body = json.loads(answer.content) if kind == "application/json" else answer.text
    schema = content["schema"] | {"components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(schema).validate(body)
