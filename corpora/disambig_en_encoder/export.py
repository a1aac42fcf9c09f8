"""Write a training checkpoint in the format that `disambig_encoder.Encoder.load` reads.

Pieces that the vocabulary calls unused are left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from disambig_encoder.export import write_encoder
from disambig_encoder.pieces import is_unused
from network import BASE_SHA256, HEADS

BASE = {"name": "sentence-transformers/all-MiniLM-L6-v2", "sha256": BASE_SHA256, "licence": "Apache-2.0"}


def main() -> None:
    """Write the encoder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--bits", type=int, default=8, choices=(8, 32))
    args = parser.parse_args()
    state = torch.load(args.checkpoint, weights_only=True)
    weights = {name: values.float().numpy() for name, values in state.items()}
    vocabulary = args.vocabulary.read_text("utf8").rstrip("\n").split("\n")
    kept = [number for number, piece in enumerate(vocabulary) if not is_unused(piece)]
    vocabulary = [vocabulary[number] for number in kept]
    for name in ("pieces.weight", "piece_bias"):
        weights[name] = weights[name][kept]
    details = {"base": BASE, "checkpoint": args.checkpoint.stem}
    write_encoder(args.output, weights, vocabulary, heads=HEADS, bits=args.bits, details=details)


if __name__ == "__main__":
    main()
