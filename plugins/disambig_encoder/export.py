"""Write the weights of an encoder as an ONNX graph with linear layers in 8 bits; needs the package `onnx`.

The graph has the inputs ``ids`` (n, length), padded with zeros, and, for m places, ``rows`` and ``places``
(m,) and ``candidates`` (m, k). Its outputs are ``mistakes`` (m, 4), the scores of the four labels of the
piece at each place, ``words`` and ``gaps`` (m, k), the score of each candidate piece at the place, and in
the gap before it, and ``states`` (m, width), the output of the last layer at the place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoder import FORMAT, GRAPH, MANIFEST, VOCABULARY

Floats = NDArray[np.floating[Any]]
NORM_EPSILON = 1e-12
OPSET, IR_VERSION = 20, 9
"""As new as `LayerNormalization` and `Gelu` need; onnxruntime reads both from release 1.17 on."""
ONNXRUNTIME = "com.microsoft"
"""Domain of operators that only onnxruntime has: they do several steps at once."""
MAX_WEIGHT = 63
"""Weights have 7 bits: with 8, sums of two products overflow 16 bits on processors without VNNI."""
ZERO_POINT = 128


class _Graph:
    """Nodes and constants of a graph under construction."""

    def __init__(self, weights: Mapping[str, Floats], bits: int) -> None:
        self.weights, self.bits = weights, bits
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._names: set[str] = set()

    def constant(self, name: str, values: NDArray[Any]) -> str:
        from onnx import numpy_helper

        if name not in self._names:
            self._names.add(name)
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, kind: str, inputs: Sequence[str], *, name: str = "", **settings: Any) -> str:
        from onnx import helper

        output = name or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **settings))
        return output

    def floats(self, name: str) -> str:
        """Return the name of some of the weights as a constant."""
        return self.constant(name, self.weights[name].astype(np.float32))

    def integers(self, name: str, values: Sequence[int]) -> str:
        """Return the name of a constant vector of whole numbers."""
        return self.constant(name, np.array(values, np.int64))

    def embed(self, ids: str) -> str:
        """Look up the rows of word pieces."""
        from onnx import TensorProto

        weight = self.weights["pieces.weight"]
        if self.bits == 32:
            return self.add("Gather", [self.constant("pieces", weight.astype(np.float32)), ids])
        values, scales = quantise_rows(weight)
        rows = self.add("Gather", [self.constant("pieces", values), ids])
        scale = self.add("Gather", [self.constant("pieces.scales", scales), ids])
        return self.add("Mul", [self.add("Cast", [rows], to=TensorProto.FLOAT), scale])

    def linear(self, x: str, name: str) -> str:
        """Multiply rows by a weight of shape ``(outputs, inputs)`` and add the bias."""
        return self.add("Add", [self.product(x, name), self.floats(f"{name}.bias")])

    def product(self, x: str, name: str) -> str:
        """Multiply rows by a weight of shape ``(outputs, inputs)``.

        In 8 bits, each row is quantised by its own largest number. A scale for all rows, as in
        `DynamicQuantizeLinear`, would make the result of a text depend on the others of its batch.
        """
        from onnx import numpy_helper

        weight = self.weights[f"{name}.weight"]
        if self.bits == 32:
            return self.add("MatMul", [x, self.constant(f"{name}.weight", weight.T.astype(np.float32))])
        values, scales = quantise_rows(weight, MAX_WEIGHT)
        # rows in 8 bits: a row divided by its scale, its largest number / 127
        last = self.constant("axis1", np.array([1]))
        largest = self.add("ReduceMax", [self.add("Abs", [x]), last], keepdims=1)
        scale = self.add("Mul", [largest, self.constant("step", np.array(1 / 127, np.float32))])
        scale = self.add("Max", [scale, self.constant("least", np.array(1e-9, np.float32))])
        flat = self.add("Squeeze", [scale, last])
        zero_point = numpy_helper.from_array(np.array([ZERO_POINT], np.uint8))
        zeros = self.add("ConstantOfShape", [self.add("Shape", [flat])], value=zero_point)
        rows = self.add("QuantizeLinear", [x, flat, zeros], axis=0)
        # the product of whole numbers, multiplied by the scales of both
        one = self.constant("unit", np.array(1.0, np.float32))
        zero = self.constant("zero_point", np.array(ZERO_POINT, np.uint8))
        columns = self.constant(f"{name}.scales", scales[:, 0])
        inputs = [rows, self.constant(f"{name}.values", values.T), one, columns, zero]
        return self.add("Mul", [self.add("MatMulIntegerToFloat", inputs, domain=ONNXRUNTIME), scale])

    def gelu(self, x: str, name: str) -> str:
        """Apply a linear layer and the GELU, in 8 bits its approximation by the hyperbolic tangent."""
        if self.bits == 32:
            return self.add("Gelu", [self.linear(x, name)])
        inputs = [self.product(x, name), self.floats(f"{name}.bias")]
        return self.add("FastGelu", inputs, domain=ONNXRUNTIME)

    def norm(self, x: str, layer: str, epsilon: float = NORM_EPSILON, *, name: str = "") -> str:
        parts = [self.floats(f"{layer}.{part}") for part in ("weight", "bias")]
        return self.add("LayerNormalization", [x, *parts], name=name, epsilon=epsilon)


def quantise_rows(weight: Floats, largest: int = 127) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a table as whole numbers up to `largest`, with a scale per row, shape ``(rows, 1)``."""
    scales = np.abs(weight).max(axis=1, keepdims=True).astype(np.float32) / largest
    scales[scales == 0] = 1.0
    return np.rint(weight / scales).astype(np.int8), scales


def _scaled_queries(weights: Mapping[str, Floats], layers: int, factor: float) -> dict[str, Floats]:
    """Return the layers of queries, keys and values, with the factor of the scores of attention in them."""
    scaled: dict[str, Floats] = {}
    for i in range(layers):
        for part in ("weight", "bias"):
            name = f"layers.{i}.qkv.{part}"
            scaled[name] = weights[name].copy()
            scaled[name][: len(scaled[name]) // 3] *= factor
    return scaled


def build_graph(weights: Mapping[str, Floats], *, heads: int, bits: int = 8) -> bytes:
    """Return the graph of an encoder in the format of ONNX.

    `weights` have the names of `corpora/disambig_en_encoder/network.py`, `heads` is the number of attention
    heads, and `bits` is 8 (see `MAX_WEIGHT`), or 32 for floats everywhere.
    """
    width = weights["pieces.weight"].shape[1]
    layers = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("layers."))
    graph = _Graph({**weights, **_scaled_queries(weights, layers, (width // heads) ** -0.5)}, bits)

    # embeddings of pieces and of their positions, up to the length of the longest sentence
    shape = graph.add("Shape", ["ids"])
    length = graph.add("Slice", [shape, graph.integers("one", [1]), graph.integers("two", [2])])
    table = graph.constant("positions", weights["positions.weight"].astype(np.float32))
    bounds = [graph.integers("zero", [0]), length, graph.integers("axis0", [0])]
    positions = graph.add("Slice", [table, *bounds])
    x = graph.norm(graph.add("Add", [graph.embed("ids"), positions]), "norm")
    x = graph.add("Reshape", [x, graph.integers("flat", [-1, width])])  # (n * length, width)

    # what is added to the scores of attention: a large negative number for padding
    pad = graph.add("Equal", ["ids", graph.constant("pad", np.array(0, np.int64))])
    low, high = (graph.constant(n, np.array(v, np.float32)) for n, v in (("low", -1e4), ("high", 0.0)))
    mask = graph.add("Unsqueeze", [graph.add("Where", [pad, low, high]), graph.integers("axes12", [1, 2])])

    in_heads = graph.add("Concat", [shape, graph.integers("heads", [heads, width // heads])], axis=0)
    first = graph.add("Mul", ["rows", length])
    places = graph.add("Add", [first, "places"])
    for i in range(layers):
        x = _add_layer(graph, x, i, in_heads, mask, places if i == layers - 1 else None)
    _add_outputs(graph, x)
    return _serialise(graph, width)


def _add_layer(graph: _Graph, x: str, number: int, in_heads: str, mask: str, places: str | None) -> str:
    """Add an attention layer; return its states or, in the last layer, those of the `places`."""
    from onnx import helper

    layer, width = f"layers.{number}", graph.weights["pieces.weight"].shape[1]
    qkv = graph.linear(x, f"{layer}.qkv")
    names = [f"qkv_{number}_{j}" for j in range(3)]
    graph.nodes.append(helper.make_node("Split", [qkv], names, axis=1, num_outputs=3))
    query, key, value = (
        graph.add("Transpose", [graph.add("Reshape", [name, in_heads])], perm=order)
        for name, order in zip(names, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
    )
    scores = graph.add("MatMul", [query, key])
    shares = graph.add("Softmax", [graph.add("Add", [scores, mask])], axis=3)
    mixed = graph.add("Transpose", [graph.add("MatMul", [shares, value])], perm=[0, 2, 1, 3])
    mixed = graph.add("Reshape", [mixed, graph.integers("flat", [-1, width])])
    if places is not None:
        x, mixed = (graph.add("Gather", [states, places]) for states in (x, mixed))  # (m, width)
    out = graph.linear(mixed, f"{layer}.out")
    x = graph.norm(graph.add("Add", [x, out]), f"{layer}.norm1")
    up = graph.gelu(x, f"{layer}.up")
    down = graph.linear(up, f"{layer}.down")
    name = "" if places is None else "states"
    return graph.norm(graph.add("Add", [x, down]), f"{layer}.norm2", name=name)


def _add_outputs(graph: _Graph, x: str) -> None:
    """Add the heads: the kind of mistake at each place, and scores of candidates as word and as gap."""
    hidden = graph.gelu(x, "mistakes.0")
    plain = graph.weights["mistakes.2.weight"].T.astype(np.float32)
    labels = graph.add("MatMul", [hidden, graph.constant("mistakes.2.weight", plain)])
    graph.add("Add", [labels, graph.floats("mistakes.2.bias")], name="mistakes")
    embedded = graph.add("Transpose", [graph.embed("candidates")], perm=[0, 2, 1])  # (m, width, k)
    piece_bias = graph.add("Gather", [graph.floats("piece_bias"), "candidates"])

    for head, output in (("word", "words"), ("gap", "gaps")):
        hidden = graph.gelu(x, f"{head}.0")
        hidden = graph.norm(hidden, f"{head}.2", 1e-5)
        hidden = graph.add("Unsqueeze", [hidden, graph.integers("axis1", [1])])
        product = graph.add("MatMul", [hidden, embedded])
        product = graph.add("Squeeze", [product, graph.integers("axis1", [1])])
        graph.add("Add", [product, piece_bias], name=output)


def _serialise(graph: _Graph, width: int) -> bytes:
    from onnx import TensorProto, helper

    inputs = {"ids": ["n", "length"], "rows": ["m"], "places": ["m"], "candidates": ["m", "k"]}
    outputs: dict[str, list[str | int]] = {"mistakes": ["m", 4]}
    outputs |= {"words": ["m", "k"], "gaps": ["m", "k"], "states": ["m", width]}
    info = helper.make_tensor_value_info
    takes = [info(name, TensorProto.INT64, shape) for name, shape in inputs.items()]
    returns = [info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()]
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ONNXRUNTIME, 1)]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "encoder", takes, returns, graph.constants),
        opset_imports=opsets,
        ir_version=IR_VERSION,
        producer_name="disambig",
    )
    serialised: bytes = model.SerializeToString()
    return serialised


def write_encoder(
    folder: str | Path,
    weights: Mapping[str, Floats],
    vocabulary: Sequence[str],
    *,
    heads: int = 12,
    bits: int = 8,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Write a folder that `Encoder.load` opens: the graph, the vocabulary, and a manifest with their digests.

    Raises `ValueError` if vocabulary and weights differ in size.

    The folder is made if it does not exist. `vocabulary` has the word pieces, one for each row of
    ``pieces.weight``; see `build_graph` for `weights`, `heads` and `bits`. `details` are further entries of
    the manifest, such as sources and licences.
    """
    if len(vocabulary) != len(weights["pieces.weight"]):
        raise ValueError(f"{len(vocabulary)} word pieces, but {len(weights['pieces.weight'])} embeddings")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        GRAPH: build_graph(weights, heads=heads, bits=bits),
        VOCABULARY: "".join(f"{piece}\n" for piece in vocabulary).encode(),
    }
    files = {}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        files[name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest = {"format": FORMAT, "files": files, "bits": bits, **(details or {})}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf8")
