"""Ways to damage the folder of a saved parser, each of which must be an error when it is loaded."""

from __future__ import annotations

import json

import numpy as np

from disambig.files import HEADER


def change_header(folder, **changes):
    path = folder / HEADER
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def change_array(file, name, change):
    arrays = dict(np.load(file))
    arrays[name] = change(arrays[name])
    np.savez(file, **arrays)


def common_damages(name):
    """Return functions that damage a folder whose arrays are in the file `name`."""
    return {
        "no header": lambda folder: (folder / HEADER).unlink(),
        "no JSON": lambda folder: (folder / HEADER).write_text("{"),
        "a list": lambda folder: (folder / HEADER).write_text("[]"),
        "another format": lambda folder: change_header(folder, format="x.v9"),
        "another digest": lambda folder: change_header(folder, digest="0"),
        "a language that is not a text": lambda folder: change_header(folder, language=3),
        "cut short": lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-300]),
        "no archive": lambda folder: (folder / name).write_bytes(b"x" * 100),
    }
