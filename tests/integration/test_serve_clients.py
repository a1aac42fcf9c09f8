"""Clients of LanguageTool with `disambig serve`: one from PyPI, and one that reads strictly what is sent."""

from __future__ import annotations

import json

import httpx
import language_tool_python
import pytest
from language_tool_python.exceptions import LanguageToolError
from pydantic import BaseModel, ConfigDict, Field
from running_server import running

TEXT = "\U0001f600 It lasted during 1997 to 2001. It was a quite place."


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


class Strict(BaseModel):
    """Values of exactly these types; of what is optional nothing may be missing in part."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Software(Strict):
    name: str
    version: str
    build_date: str = Field(alias="buildDate")
    api_version: int = Field(alias="apiVersion")
    premium: bool
    premium_hint: str = Field(alias="premiumHint")
    status: str


class Warnings(Strict):
    incomplete_results: bool = Field(alias="incompleteResults")


class DetectedLanguage(Strict):
    code: str
    name: str
    confidence: float
    source: str


class Language(Strict):
    code: str
    name: str
    detected_language: DetectedLanguage = Field(alias="detectedLanguage")


class Replacement(Strict):
    value: str
    confidence: float | None = None


class Context(Strict):
    length: int
    offset: int
    text: str


class MatchType(Strict):
    type_name: str = Field(alias="typeName")


class Category(Strict):
    id: str
    name: str


class Rule(Strict):
    id: str
    description: str
    issue_type: str = Field(alias="issueType")
    category: Category


class Match(Strict):
    context: Context
    context_for_sure_match: int = Field(alias="contextForSureMatch")
    ignore_for_incomplete_sentence: bool = Field(alias="ignoreForIncompleteSentence")
    length: int
    message: str
    offset: int
    replacements: list[Replacement]
    rule: Rule
    sentence: str
    short_message: str = Field(alias="shortMessage")
    type: MatchType


class Answer(Strict):
    """All that `/v2/check` answers, with every field that typed clients want."""

    software: Software
    warnings: Warnings
    language: Language
    matches: list[Match]


def units(text, start, length):
    return text.encode("utf-16-le")[2 * start :][: 2 * length].decode("utf-16-le")


@pytest.mark.parametrize(
    "sent",
    [
        {"text": TEXT},
        {"data": json.dumps({"text": TEXT})},
        {"data": json.dumps({"annotation": [{"text": TEXT[:20]}, {"text": TEXT[20:]}]})},
    ],
    ids=["text", "data with text", "annotated"],
)
def test_a_strict_client_reads_every_field(address, sent):
    answer = httpx.post(f"{address}/v2/check", data={"language": "en-GB", **sent})
    read = Answer.model_validate_json(answer.content)
    assert read.language.code == "en-GB"
    assert [units(TEXT, match.offset, match.length) for match in read.matches] == ["during", "quite"]
    for match in read.matches:
        around = match.context
        assert units(around.text, around.offset, around.length) == units(TEXT, match.offset, match.length)
        assert match.sentence in TEXT
        assert match.replacements


def test_corrections_applied_from_the_end_give_the_right_text(address):
    text = f"<!-- x -->{TEXT}"
    pieces = [{"markup": "<!-- x -->"}, {"text": TEXT}]
    answer = httpx.post(
        f"{address}/v2/check", data={"language": "en", "data": json.dumps({"annotation": pieces})}
    )
    whole = text.encode("utf-16-le")
    for match in reversed(answer.json()["matches"]):
        start, end = 2 * match["offset"], 2 * (match["offset"] + match["length"])
        whole = whole[:start] + match["replacements"][0]["value"].encode("utf-16-le") + whole[end:]
    assert whole.decode("utf-16-le") == text.replace("during", "from").replace("quite", "quiet")
