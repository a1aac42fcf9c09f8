"""What is answered under each path, refusals included."""

from __future__ import annotations

import json

import pytest
from fake_checker import TEXT, fake_checker

from disambig.checking import Flag
from disambig.configuration import CheckSettings
from disambig.data import PrecisionEstimate
from disambig.packs import available
from disambig.server import AllowedOrigins, ServerChecker, ServerLimits, ShownFlag, message


def check(ask, text=TEXT, **fields):
    answer = ask("POST", "/v2/check", data={"language": "en-US", "text": text, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()["matches"]


def test_a_match_has_what_strict_clients_read(ask):
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
    assert [each["value"] for each in first["replacements"]][:2] == ["from", "in"]


@pytest.mark.skipif("spelling" not in available(), reason="needs a model that knows its language")
def test_the_language_of_most_of_a_text_is_detected(ask):
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


def test_text_with_markup_is_read_without_and_counted_with_it(ask):
    pieces = [{"markup": "<p>"}, {"text": "It was a "}, {"markup": "<b>"}, {"text": "quite"}]
    pieces += [{"markup": "</b>"}, {"text": " place"}, {"markup": "<br>", "interpretAs": "\n"}, {"text": "x"}]
    answer = ask("POST", "/v2/check", data={"language": "en", "data": json.dumps({"annotation": pieces})})
    (match,) = answer.json()["matches"]
    assert (match["offset"], match["length"]) == (len("<p>It was a <b>"), 5)
    assert match["context"]["text"].startswith("<p>It was a <b>quite</b> place<br>")


def test_a_word_with_markup_inside_is_not_flagged(ask):
    pieces = [{"text": "It was a qu"}, {"markup": "<i>"}, {"text": "ite place"}]
    answer = ask("POST", "/v2/check", data={"language": "en", "data": json.dumps({"annotation": pieces})})
    assert answer.json()["matches"] == []


def test_comments_hide_what_they_name(ask):
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
        ({"flagsPer1000": "0"}, []),
        ({"useragent": "x", "unknown": "y", "enabledOnly": "false"}, None),
    ],
)
def test_rules_are_chosen_by_fields(ask, fields, rules):
    found = [each["rule"]["id"].removeprefix("DISAMBIG_") for each in check(ask, **fields)]
    assert found == (["PREPOSITION", "SPELLING"] if rules is None else rules)


@pytest.mark.parametrize(
    ("variants", "fields", "code"),
    [
        ("en-GB", {}, "en-GB"),
        ("de-AT, en-nz,pt-BR", {}, "en-NZ"),
        ("en-US,en-GB", {}, "en-GB"),
        ("de-AT", {}, "en"),
        ("en_GB", {"language": "AUTO"}, "en-GB"),
        ("en-GB", {"language": "en-US", "multilingual": "true"}, "en-US"),
    ],
)
def test_the_preferred_variant_is_the_language_that_is_detected(ask, variants, fields, code):
    data = {"language": "auto", "text": TEXT, "preferredVariants": variants, **fields}
    answer = ask("POST", "/v2/check", data=data).json()
    assert answer["language"]["code"] == answer["language"]["detectedLanguage"]["code"] == code
    assert len(answer["matches"]) == 2


@pytest.mark.parametrize(
    ("language", "variants", "message"),
    [
        ("en-US", "en-GB", "[D883] you specified 'preferredVariants' but you didn't specify 'language=auto'"),
        ("auto", "en", "[D883] invalid format for 'preferredVariants', expected a dash as in 'en-GB': 'en'"),
        ("auto", "en-GB,", "[D883] invalid format for 'preferredVariants', expected a dash"),
        ("auto", "en-XX", "[D884] the language 'en-XX' cannot be checked here"),
        ("auto", "en-XX,en-GB", "[D884] the language 'en-XX' cannot be checked here"),
    ],
)
def test_invalid_preferred_variants_are_refused(ask, language, variants, message):
    data = {"language": language, "text": TEXT, "preferredVariants": variants}
    answer = ask("POST", "/v2/check", data=data)
    assert answer.status_code == 400
    assert answer.text.startswith(f"Error: {message}"), answer.text


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


@pytest.mark.parametrize("what", BAD)
def test_what_makes_no_sense_is_a_400_in_a_line(ask, what):
    answer = ask("POST", "/v2/check", data=BAD[what])
    assert answer.status_code == 400
    assert answer.text.startswith("Error: [D88")
    assert "\n" not in answer.text
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


def test_bytes_that_are_no_utf8_are_a_400(ask):
    for body in (b"language=en&text=%ff", b"language=en&text=\xff"):
        assert ask("POST", "/v2/check", content=body).status_code == 400
    assert ask("POST", "/annotate", content=b'{"text": "\xff"}').status_code == 400
    assert ask("POST", "/v2/check", json={"language": "en"}).status_code == 400
    body = "&".join(f"a{i}=1" for i in range(500))
    assert ask("POST", "/v2/check", content=body).status_code == 400


def test_fields_may_stand_in_the_address_and_the_body_is_above_them(ask):
    assert len(ask("GET", "/v2/check", params={"language": "en", "text": TEXT}).json()["matches"]) == 2
    answer = ask("POST", "/v2/v2/check", params={"language": "xx"}, data={"language": "en", "text": TEXT})
    assert len(answer.json()["matches"]) == 2


def test_what_is_asked_beside_texts(ask):
    assert ask("GET", "/v2/languages").json()[0] == {"name": "English", "code": "en", "longCode": "en"}
    assert "en-GB" in [each["longCode"] for each in ask("GET", "/v2/v2/languages").json()]
    assert ask("GET", "/v2/info").json()["software"]["name"] == "disambig"
    assert ask("GET", "/v2/healthcheck").text == "OK"
    assert ask("GET", "/v2/maxtextlength", serving={"limits": ServerLimits(max_text=7)}).text == "7"
    rules = ask("GET", "/v2/configinfo", params={"language": "en"}).json()["rules"]
    assert [each["ruleId"] for each in rules] == ["DISAMBIG_PREPOSITION", "DISAMBIG_SPELLING"]
    assert ask("GET", "/v2/configinfo").status_code == 400
    assert ask("GET", "/v2").status_code == 200
    assert ask("GET", "/v2/nothing").status_code == 404
    for method, path, allowed in (("GET", "/annotate", "POST"), ("DELETE", "/v2/check", "GET, HEAD, POST")):
        answer = ask(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
        assert answer.text.startswith("Error: [D890]")
        assert answer.headers["cache-control"] == "no-store"


def test_a_long_text_is_a_413(ask):
    short = {"limits": ServerLimits(max_text=10)}
    for data in ({"text": "a" * 11}, {"data": json.dumps({"annotation": [{"text": "a" * 11}]})}):
        answer = ask("POST", "/v2/check", data={"language": "en", **data}, serving=short)
        assert (answer.status_code, answer.text[:13]) == (413, "Error: [D885]")
    assert ask("POST", "/annotate", json={"text": "a" * 11}, serving=short).status_code == 413
    answer = ask("POST", "/annotate", json={"text": "a" * 100_000}, serving=short)
    assert answer.status_code == 413
    assert "65,536 bytes" in answer.text
    assert answer.headers["connection"] == "close"


def test_records_are_those_of_the_format_jsonl(ask):
    answer = ask("POST", "/annotate", json={"text": TEXT, "id": "mine"}).json()
    assert (answer["id"], answer["text"], answer["flags"]) == ("mine", TEXT, 2)
    flagged = [each for each in answer["decisions"] if each["flagged"]]
    assert [(each["observed"], each["replacement"]) for each in flagged] == [
        ("during", "from"),
        ("quite", "quiet"),
    ]
    several = ask("POST", "/annotate", json={"documents": [{"text": "It."}, {"id": "b", "text": "}\n{"}]})
    assert [(each["id"], each["text"]) for each in several.json()] == [("1", "It."), ("b", "}\n{")]
    none = ask("POST", "/annotate", json={"text": TEXT, "flags_per_1000": 0}).json()
    assert none["flags"] == 0
    old = ask("POST", "/annotate", json={"text": TEXT, "id": "mine", "records": 1}).json()
    assert answer["schema"] == "disambig/records/2" and "schema" not in old
    assert ask("POST", "/annotate", json={"text": TEXT, "records": 2}).json()["flags"] == 2
    for version in (0, 3, "1", True, 1.0, [1], None):
        refused = ask("POST", "/annotate", json={"text": TEXT, "records": version})
        assert (refused.status_code, refused.text[:13]) == (400, "Error: [D883]")


def test_of_very_many_flags_the_surest_are_shown_and_it_is_said(ask, monkeypatch):
    monkeypatch.setattr("disambig.server.languagetool.MOST_FLAGS", 3)
    monkeypatch.setattr("disambig.server.app.MOST_FLAGS", 3)
    answer = ask("POST", "/v2/check", data={"language": "en", "text": f"{TEXT} " * 3}).json()
    assert len(answer["matches"]) == 3
    assert answer["warnings"] == {"incompleteResults": True}


def test_an_answer_has_a_bounded_size_and_a_long_one_comes_in_pieces(ask, monkeypatch):
    answer = ask("POST", "/annotate", json={"text": f"{TEXT} " * 200})
    assert len(answer.content) == int(answer.headers["content-length"]) > 1 << 17
    assert answer.json()["flags"] == 400
    assert (
        ask("POST", "/annotate", json={"text": TEXT}, serving={"limits": ServerLimits(held=500)}).status_code
        == 503
    )
    monkeypatch.setattr("disambig.server._endpoints.MOST_DECISIONS", 2)
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
def test_records_of_what_makes_no_sense_are_a_400(ask, body):
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
def test_reasons_of_what_makes_no_sense_are_a_400(ask, body):
    assert ask("POST", "/explain", json=body).status_code == 400


def test_a_text_that_fails_is_a_500_of_its_own_and_is_not_told(ask):
    told = []
    answer = ask("POST", "/v2/check", data={"language": "en", "text": "RAISE"}, serving={"tell": told.append})
    assert answer.status_code == 500
    assert answer.text.startswith("Error: ")
    assert "RAISE" not in "".join(told)


def test_a_bug_is_told_by_its_place_alone(ask, monkeypatch):
    def wrong(*_, **__):
        raise RuntimeError(f"this holds the text: {TEXT}")

    monkeypatch.setattr("disambig.server.app.answer", wrong)
    told = []
    answer = ask("POST", "/v2/check", data={"language": "en", "text": TEXT}, serving={"tell": told.append})
    assert answer.status_code == 500
    assert "test_server_app.py" in told[0]
    assert "RuntimeError" in told[0]
    assert TEXT not in told[0] + answer.text


def test_other_origins_are_refused_and_named_ones_are_not(ask):
    named = {
        "origins": AllowedOrigins.from_options(
            hosts=[], origins=["https://good.example", "moz-extension://*"]
        )
    }
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
    wrong = ask("POST", "/v2/check", headers={"origin": "https://good.example"}, serving=named)
    assert (wrong.status_code, wrong.headers["access-control-allow-origin"]) == (400, "https://good.example")


def test_a_preflight_is_answered_to_who_may_ask(ask):
    named = {"origins": AllowedOrigins.from_options(hosts=[], origins=["https://good.example"])}
    headers = {"origin": "https://good.example", "access-control-request-headers": "content-type"}
    headers["access-control-request-private-network"] = "true"
    answer = ask("OPTIONS", "/v2/check", headers=headers, serving=named)
    assert answer.status_code == 204
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert answer.headers["access-control-allow-private-network"] == "true"
    refused = ask("OPTIONS", "/v2/check", headers={"origin": "http://evil.example"}, serving=named)
    assert refused.status_code == 403


def test_picky_takes_no_share_away_from_flags():
    """A rate would take its place: at other rates no share of flags is asked for."""
    checker, trusting = fake_checker(), fake_checker(least=0.8)
    assert checker.options_for(picky=True).rates == {"preposition": 3.0, "spelling": 3.0}
    assert trusting.options_for(picky=True).rates == trusting.rates
    assert ServerChecker.annotate(trusting, trusting.options_for(picky=True)).least == 0.8
    assert ServerChecker.annotate(trusting, checker.options_for(picky=True)).least is None


def test_the_page_shows_a_rate_or_the_share_of_flags_that_is_right(ask):
    assert 'data-rate="2"' in ask("GET", "/").text
    page = ask("GET", "/", serving={"checker": fake_checker(least=0.8)}).text
    assert 'data-share="0.8"' in page
    assert "data-rate" not in page
    assert 'aria-label="False alarms per 1,000 words"' in page


@pytest.mark.parametrize(
    ("trust", "said"),
    [
        (None, "spelling"),
        (PrecisionEstimate(0.912, 0.9, 0.95, 100, "b", "t"), "spelling; 91 % of such flags were right"),
    ],
)
def test_a_message_has_one_number(trust, said):
    flag = Flag(0, 1, 1, 1, "b", "a", "spelling", 0.67, (0, 1, "a"), trust=trust)
    assert message(ShownFlag(flag, 0, 1, ())) == f"Did you mean “a” in place of “b”? ({said})"


def test_the_rules_are_a_page(ask):
    answer = ask("GET", "/rules")
    assert answer.headers["content-type"].startswith("text/html")
    assert "script" not in answer.headers["content-security-policy"]
    assert '<section id="spelling">' in answer.text and "ignore-next-line[spelling]" in answer.text


def test_the_page_runs_nothing_but_its_own(ask):
    answer = ask("GET", "/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert 'data-rate="2"' in answer.text
    for outside in (" src=", "url(", "@import", "<link rel=stylesheet", "innerHTML", "localStorage"):
        assert outside not in answer.text
    assert ask("HEAD", "/").status_code == 200


def test_ignored_words_and_the_most_flags_hold(ask):
    for settings in ({"ignore": frozenset(["quite"])}, {"max_flags_per_1000": 1.0}):
        serving = {"checker": fake_checker(**settings)}
        answer = ask("POST", "/v2/check", data={"language": "en", "text": TEXT}, serving=serving)
        assert [each["rule"]["id"] for each in answer.json()["matches"]] == ["DISAMBIG_PREPOSITION"]
