"""Parsers and converters under ``/models``."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from fake_checker import fake_checker

from disambig.errors import UserError
from disambig.server import ServerLimits


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
