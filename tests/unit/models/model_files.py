"""Change the files of a saved model, for tests of damage."""

from __future__ import annotations

import json
from hashlib import blake2b

import numpy as np
import pytest
from model_configs import model_config

from disambig.errors import UserError
from disambig.models import load_model
from disambig.text import Words

VIEW = Words()(["It was a quite place. A piece of cake, quite good.", "Peace is quiet."])


def toy_config(task, extractor=None, **options):
    """Return the config of a model of a toy task."""
    config = model_config(
        (task, options), {"features": "toys.NearbyWords.v1"}, "toys.Perceptron.v1", "toys.Constant.v1"
    )
    return config if extractor is None else config | {"extractors": {"features": extractor}}


def assert_rejected(home, code, *words):
    with pytest.raises(UserError) as caught:
        load_model(home)
    message = str(caught.value)
    assert caught.value.code == code, message
    assert "\n" not in message
    for word in words:
        assert word in message
    return message


def update_checksums(home):
    """Update the checksums in model.json after files were changed, as an attacker would."""
    description = json.loads((home / "model.json").read_text())
    for name in description["files"]:
        data = (home / name).read_bytes()
        description["files"][name] = {"size": len(data), "blake2b": blake2b(data, digest_size=16).hexdigest()}
    (home / "model.json").write_text(json.dumps(description))


def change_description(home, **changes):
    description = json.loads((home / "model.json").read_text())
    (home / "model.json").write_text(json.dumps({**description, **changes}))


def read_arrays(home, name="weights.npz"):
    with np.load(home / name) as archive:
        return dict(archive)


def write_arrays(home, arrays, name="weights.npz"):
    np.savez(home / name, **arrays)
    update_checksums(home)


def edit_config(home, old, new):
    path = home / "config.cfg"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    update_checksums(home)
