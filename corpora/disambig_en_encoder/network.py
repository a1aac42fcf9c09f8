"""The encoder: BERT's architecture, six layers of 384, with heads for mistakes; needs PyTorch."""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Digest of ``model.safetensors`` of sentence-transformers/all-MiniLM-L6-v2 (Apache 2.0)."""

PAD, NOTHING, UNKNOWN, CLS, SEP, MASK = 0, 1, 100, 101, 102, 103
"""Word pieces of the vocabulary of bert-base-uncased; NOTHING is its first unused piece."""

RIGHT, WRONG, SUPERFLUOUS, MISSING_BEFORE = range(4)
"""What the head for mistakes says of a word."""

WIDTH, HEADS, LAYERS, POSITIONS = 384, 12, 6, 128


class Layer(nn.Module):
    """One layer of BERT: attention and a feed-forward network, each normalised after its residual."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """Return the next states; `bias` is added to the scores of attention."""
        n, length, _ = x.shape
        qkv = self.qkv(x).view(n, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        weights = (q @ k.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5 + bias).softmax(-1)
        mixed = (weights.to(v.dtype) @ v).transpose(1, 2).reshape(n, length, WIDTH)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class EncoderNetwork(nn.Module):
    """The encoder and its heads.

    `mistakes` says of each piece whether its word is right, wrong or superfluous, or lacks a word before
    it. `word` and `gap` say which word piece should stand at a place, or in the gap before it; both are
    compared with the embeddings of the pieces.
    """

    def __init__(self, pieces: int = 30522) -> None:
        super().__init__()
        self.pieces = nn.Embedding(pieces, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.mistakes = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 4))
        self.word = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH))
        self.gap = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH))
        self.piece_bias = nn.Parameter(torch.zeros(pieces))

    def forward(self, ids: Tensor) -> Tensor:
        """Return the states of the pieces, shape ``(n, length, WIDTH)``; padded with PAD."""
        x = self.norm(self.pieces(ids) + self.positions.weight[: ids.shape[1]])
        bias = torch.where(ids == PAD, -1e4, 0.0)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, bias)
        return x

    def piece_scores(self, head: nn.Module, states: Tensor) -> Tensor:
        """Return the scores of all pieces at some states, shape ``(n, n_pieces)``."""
        return head(states) @ self.pieces.weight.T + self.piece_bias

    @classmethod
    def from_base(cls, path: Path) -> EncoderNetwork:
        """Return the encoder with the weights of all-MiniLM-L6-v2; the heads are random.

        Raises `ValueError` if the file has another digest.
        """
        if hashlib.sha256(path.read_bytes()).hexdigest() != BASE_SHA256:
            raise ValueError(f"{path} is not model.safetensors of all-MiniLM-L6-v2")
        base = load_file(path)
        model = cls()
        state = model.state_dict()
        state["pieces.weight"] = base["embeddings.word_embeddings.weight"]
        # a sentence is one segment: the embedding of segment 0 goes into the positions
        segment = base["embeddings.token_type_embeddings.weight"][0]
        state["positions.weight"] = base["embeddings.position_embeddings.weight"][:POSITIONS] + segment
        names = {"out": "attention.output.dense", "norm1": "attention.output.LayerNorm"}
        names |= {"up": "intermediate.dense", "down": "output.dense", "norm2": "output.LayerNorm"}
        for part in ("weight", "bias"):
            state[f"norm.{part}"] = base[f"embeddings.LayerNorm.{part}"]
            for i in range(LAYERS):
                prefix = f"encoder.layer.{i}"
                self_attention = [
                    f"{prefix}.attention.self.{name}.{part}" for name in ("query", "key", "value")
                ]
                state[f"layers.{i}.qkv.{part}"] = torch.cat([base[name] for name in self_attention])
                for ours, theirs in names.items():
                    state[f"layers.{i}.{ours}.{part}"] = base[f"{prefix}.{theirs}.{part}"]
        model.load_state_dict(state)
        return model
