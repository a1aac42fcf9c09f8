"""Repositories with histories made for a test, and a vocabulary without models."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

DAY = 86_400
BEGIN = 1_600_000_000
SETS = {frozenset(("its", "it's")): "its/it's", frozenset(("than", "then")): "than/then"}
NO_WORDS = frozenset(("teh", "recieve", "frobnicator"))


class FakeVocabulary:
    """Every word exists, except for a few."""

    def is_word(self, word):
        return word not in NO_WORDS

    def confusion_set(self, one, other):
        return SETS.get(frozenset((one, other)), "")


@pytest.fixture
def vocabulary():
    return FakeVocabulary()


class History:
    """A repository to which commits are added, a day apart."""

    def __init__(self, home):
        self.home, self.days = home, 0
        home.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments, **environment):
        settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        for who in ("AUTHOR", "COMMITTER"):
            settings[f"GIT_{who}_NAME"], settings[f"GIT_{who}_EMAIL"] = "Zaphod Writer", "zaphod@example.org"
        command = ["git", "-C", self.home, *arguments]
        environment = os.environ | settings | environment
        return subprocess.run(command, env=environment, check=True, capture_output=True).stdout

    def commit(self, message, files, *, days=1):
        """Write files, by name, and commit them; return the commit."""
        for name, text in files.items():
            path = os.path.join(os.fsencode(self.home), os.fsencode(name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
        self.days += days
        when = f"{BEGIN + self.days * DAY} +0000"
        self.git("add", "-A")
        dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), when)
        self.git("commit", "-q", "--allow-empty", "-m", message, **dates)
        return self.git("rev-parse", "HEAD").decode().strip()


@pytest.fixture
def history(tmp_path):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return History(tmp_path / "project")
