"""The files of a saved model, for tests that change them."""

from __future__ import annotations

import json
from hashlib import blake2b

import numpy as np
import pytest

from disambig.errors import UserError
from disambig.models import load_model
from disambig.text import Words

VIEW = Words()(["It was a quite place. A piece of cake, quite good.", "Peace is quiet."])


def refused(home, code, *seen):
    with pytest.raises(UserError) as caught:
        load_model(home)
    message = str(caught.value)
    assert caught.value.code == code, message
    assert "\n" not in message
    for word in seen:
        assert word in message
    return message


def sign(home):
    """Make model.json agree with the files again, as a hostile hand would."""
    said = json.loads((home / "model.json").read_text())
    for name in said["files"]:
        data = (home / name).read_bytes()
        said["files"][name] = {"size": len(data), "blake2b": blake2b(data, digest_size=16).hexdigest()}
    (home / "model.json").write_text(json.dumps(said))


def say(home, **changes):
    said = json.loads((home / "model.json").read_text())
    (home / "model.json").write_text(json.dumps({**said, **changes}))


def arrays_of(home, name="weights.npz"):
    with np.load(home / name) as archive:
        return dict(archive)


def put_arrays(home, arrays, name="weights.npz"):
    np.savez(home / name, **arrays)
    sign(home)


def configure(home, old, new):
    path = home / "config.cfg"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    sign(home)
