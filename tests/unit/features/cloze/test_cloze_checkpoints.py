"""Learning words in context that is interrupted: it goes on to the same bits, or says why it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from cloze_toys import learned, sentences

from disambig.errors import UserError
from disambig.features import NAMES

TEXTS = sentences(120)
SETTINGS = {"epochs": 2, "checkpoint_every": 3}


class Killed(Exception):
    """Stands for the end of a process."""


def until(step):
    """Return a progress that ends learning before one of its steps."""

    def progress(stage, done, total):
        assert total > step
        if done == step:
            raise Killed

    return progress


def same(one, other):
    return all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in NAMES[1:])


@pytest.mark.parametrize("step", [1, 3, 5])
def test_learning_goes_on_to_the_same_bits(tmp_path, step):
    path = tmp_path / "state.npz"
    whole = learned(TEXTS, **SETTINGS)
    with pytest.raises(Killed):
        learned(TEXTS, **SETTINGS, checkpoint=path, progress=until(step))
    assert path.exists() == (step >= 3)
    begun = []
    again = learned(
        TEXTS, **SETTINGS, checkpoint=path, progress=lambda stage, done, total: begun.append(done)
    )
    assert begun[0] == step // 3 * 3
    assert same(whole, again)
    assert whole.header == again.header
    assert [each.name for each in tmp_path.iterdir()] == ["state.npz"]


def test_a_state_of_another_run_is_refused(tmp_path):
    path = tmp_path / "state.npz"
    learned(TEXTS, **SETTINGS, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(UserError, match=r"D994.*state\.npz.*other seed; remove it"):
        learned(TEXTS, **SETTINGS, checkpoint=path, seed=5)
    with pytest.raises(UserError, match=r"D994.*other text"):
        learned(TEXTS[::-1], **SETTINGS, checkpoint=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", ["short", "text", "other", "folder"])
def test_a_damaged_state_is_refused(tmp_path, damage):
    path = tmp_path / "state.npz"
    learned(TEXTS, **SETTINGS, checkpoint=path)
    whole = path.read_bytes()
    path.unlink()
    if damage == "short":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "text":
        path.write_text("no state")
    elif damage == "other":
        np.savez(path, done=np.array(3))
    else:
        path.mkdir()
    with pytest.raises(UserError, match="D994"):
        learned(TEXTS, **SETTINGS, checkpoint=path)


def test_a_state_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(UserError, match="D309"):
        learned(TEXTS, **SETTINGS, checkpoint=tmp_path / "nowhere" / "state.npz")
