"""Train the encoder; go on from the last checkpoint of the folder if there is one.

README.md has the command. Every ten minutes the folder gets a checkpoint with the state of the optimiser, and
``curve.jsonl`` a line with the losses and the measure on development proposals (see `measure`). ``--finish``
lowers the learning rate to nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from disambig_encoder.pieces import WordPieces, split_words
from examples import IGNORED, Example, MistakeMaker, proposal_example, read_fixes, real_example, sentence_pool
from measure import DevMeasure, padded
from network import CLS, MASK, NOTHING, SEP, EncoderNetwork
from torch import Tensor

BATCH_PIECES = 2304  # word pieces of a batch, both readings
REAL_SHARE = 0.3  # of the examples: mistakes that people corrected
PROPOSED_SHARE = 0.3  # if there are proposals
MASKED_SHARE = 0.15  # of the right sentences that are read for masked words instead
AVERAGE_DECAY = 0.95  # of the moving average of the weights, which is what is kept
AVERAGE_EVERY = 10  # steps
WARM_UP_STEPS = 300  # in which the learning rate rises from zero
LOSS_WEIGHTS = {"mistakes": 1.0, "pairs": 0.5, "words": 0.15, "masked": 0.05}


def batches(
    reals: list[dict],
    proposals: list[dict],
    pool: list[str],
    maker: MistakeMaker,
    pieces: WordPieces,
    start: int,
    seed: int,
) -> Iterator[tuple[int, list[Example]]]:
    """Yield batches of about equal length, with the number of sentences of the pool used so far."""
    rng = random.Random(seed + start)
    at = start
    order: list[int] = []  # real mistakes that are still to come; each once before one is repeated
    while True:
        # a mixture of real, proposed and made mistakes
        block: list[Example] = []
        while len(block) < 2400:
            share = rng.random()
            if share < REAL_SHARE:
                if not order:
                    order = rng.sample(range(len(reals)), len(reals))
                example = real_example(reals[order.pop()], pieces)
            elif proposals and share < REAL_SHARE + PROPOSED_SHARE:
                example = proposal_example(rng.choice(proposals), pieces)
            else:
                example = maker.sentence(split_words(pool[at % len(pool)]), rng)
                at += 1
            if example is not None:
                block.append(example)

        # batches of similar length, in random order
        block.sort(key=lambda example: max(len(example.ids), len(example.right_ids)))
        parts: list[list[Example]] = [[]]
        for example in block:
            size = max(len(example.ids), len(example.right_ids))
            if parts[-1] and 2 * size * (len(parts[-1]) + 1) > BATCH_PIECES:
                parts.append([])
            parts[-1].append(example)
        rng.shuffle(parts)
        for part in parts:
            yield at, part


def losses(model: EncoderNetwork, batch: list[Example], rng: random.Random) -> dict[str, Tensor]:
    """Return the losses of a batch.

    * ``mistakes``: the log loss of the labels of all words, those at places of mistakes weighted more;
    * ``pairs``: the log-odds of an error are greater before a correction than after it;
    * ``words``: the log loss of the piece that should stand at each place, in both readings;
    * ``masked``: that of masked pieces, in some right sentences.

    Row i of the arrays is the i-th sentence as written, and row n + i as corrected.
    """
    n = len(batch)
    ids = padded([row.ids for row in batch] + [row.right_ids for row in batch])
    labels = torch.full(ids.shape, IGNORED)
    weights = torch.ones(ids.shape)
    masked_at: list[tuple[int, int, int]] = []
    pairs, places = [], []  # (row, place, right place, weight); (row, place, gap, target, weight)
    for i, row in enumerate(batch):
        labels[i, : len(row.labels)] = torch.tensor(row.labels)
        weights[i] = weights[n + i] = 0.3 if row.real else 1.0
        for place in row.places:
            weights[i, place] = 3.0 * row.weight
        masked = rng.random() < MASKED_SHARE and not row.real
        if masked:
            for j, piece in enumerate(row.right_ids):
                if piece not in (CLS, SEP) and rng.random() < 0.18:
                    masked_at.append((n + i, j, piece))
        else:
            labels[n + i, : len(row.right_labels)] = torch.tensor(row.right_labels)
            for place in row.right_places:
                weights[n + i, place] = 3.0 * row.weight
        columns = row.places, row.right_places, row.gaps, row.targets
        for place, right, gap, target in zip(*columns, strict=True):
            places.append((i, place, gap, target, row.weight))
            if not masked:
                pairs.append((i, place, right, row.weight))
                removed = target == NOTHING
                keep = NOTHING if removed else row.right_ids[right]
                places.append((n + i, right, removed, keep, row.weight))
    if masked_at:
        mask_rows, mask_columns, pieces = map(torch.tensor, zip(*masked_at, strict=True))
        ids[mask_rows, mask_columns] = MASK
    with torch.autocast("cpu", torch.bfloat16):
        states = model(ids)
        logits = model.mistakes(states).float()
        at = torch.tensor([(row, place) for row, place, *_ in places]).T
        gap = torch.tensor([gap for _, _, gap, _, _ in places])
        chosen = states[at[0], at[1]]
        hidden = torch.where(gap[:, None], model.gap(chosen), model.word(chosen))
        scores = hidden @ model.pieces.weight.T + model.piece_bias
        masked_states = states[mask_rows, mask_columns] if masked_at else None
        mask_scores = None if masked_states is None else model.piece_scores(model.word, masked_states)

    result: dict[str, Tensor] = {}
    by_piece = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=IGNORED, reduction="none")
    result["mistakes"] = (by_piece * weights).sum() / (weights * (labels != IGNORED)).sum()
    logs = logits.log_softmax(-1)
    error = torch.log1p(-logs[..., 0].exp().clamp(max=1 - 1e-5)) - logs[..., 0]
    if pairs:
        i, place, right, weight = (torch.tensor(column) for column in zip(*pairs, strict=True))
        result["pairs"] = (F.softplus(error[n + i, right] - error[i, place]) * weight).mean()
    targets = torch.tensor([target for *_, target, _ in places])
    weight = torch.tensor([weight for *_, weight in places])
    result["words"] = (F.cross_entropy(scores.float(), targets, reduction="none") * weight).mean()
    if mask_scores is not None:
        result["masked"] = F.cross_entropy(mask_scores.float(), pieces)
    return result


class TrainingRun:
    """The networks, the optimiser and the figures of a run, which go on from the last checkpoint of a folder.

    Attribute `average`: the network whose weights are a moving average of those of `model`.
    Attribute `state`: counts of steps, of sentences of the pool and of pairs, and the seconds of training.
    """

    def __init__(self, output: Path, base: Path, rate: float) -> None:
        self.output = output
        self.model = EncoderNetwork.from_base(base)
        self.average = EncoderNetwork()
        self.average.load_state_dict(self.model.state_dict())
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=rate, weight_decay=0.01, fused=True)
        self.state: dict[str, Any] = {"step": 0, "used": 0, "pairs": 0, "seconds": 0.0}
        self.log: dict[str, list[float]] = {}  # losses since the last checkpoint, by name
        self._last = output / "last.pt"
        if self._last.exists():
            saved = torch.load(self._last, weights_only=True)
            self.model.load_state_dict(saved["model"])
            self.average.load_state_dict(saved["average"])
            self.optimiser.load_state_dict(saved["optimiser"])
            self.state = saved["state"]

    def step(self, batch: list[Example], used: int, rate: float, rng: random.Random) -> None:
        """Learn from one batch; `used` is the number of sentences of the pool used so far."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        parts = losses(self.model, batch, rng)
        sum(LOSS_WEIGHTS[name] * loss for name, loss in parts.items()).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad()
        for name, loss in parts.items():
            self.log.setdefault(name, []).append(loss.item())
        state = self.state
        state |= {"step": state["step"] + 1, "used": used, "pairs": state["pairs"] + len(batch)}
        if state["step"] % AVERAGE_EVERY == 0:
            decay = min(AVERAGE_DECAY, 1 - 1 / (1 + state["step"] / AVERAGE_EVERY))
            with torch.no_grad():
                for kept, new in zip(self.average.parameters(), self.model.parameters(), strict=True):
                    kept.lerp_(new, 1 - decay)

    def mean_losses(self, n: int | None = None) -> dict[str, float]:
        """Return the mean of each loss since the last checkpoint, or of its last `n` values."""
        return {name: statistics.fmean(values[-n:] if n else values) for name, values in self.log.items()}

    def save(self, dev: DevMeasure | None) -> None:
        """Write a checkpoint, the averaged weights and a line of ``curve.jsonl``."""
        data = {"model": self.model.state_dict(), "average": self.average.state_dict(), "state": self.state}
        temporary = self._last.with_suffix(".tmp")
        torch.save({**data, "optimiser": self.optimiser.state_dict()}, temporary)
        temporary.replace(self._last)
        torch.save(self.average.state_dict(), self.output / f"average-{self.state['pairs'] // 1000:05d}k.pt")
        means = {name: round(mean, 4) for name, mean in self.mean_losses().items()}
        line = {**self.state, "rate": self.optimiser.param_groups[0]["lr"], "losses": means}
        if dev is not None:
            line["dev"] = dev(self.average)
        with (self.output / "curve.jsonl").open("a") as out:
            out.write(json.dumps(line) + "\n")
        self.log.clear()


def parse_arguments() -> argparse.Namespace:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("data", "base", "vocabulary", "relations", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--dev", type=Path, help="proposals of shipped models, JSON lines")
    parser.add_argument("--proposals", type=Path, help="corrections of right text that models propose")
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--finish", type=float, default=0, help="last share of the hours with a falling rate")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--minutes", type=float, default=10, help="between checkpoints")
    parser.add_argument("--sentences", type=int, default=1_500_000)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Train from the last checkpoint on."""
    args = parse_arguments()
    torch.set_num_threads(1)
    began = time.time()
    args.output.mkdir(parents=True, exist_ok=True)
    pieces = WordPieces.from_file(args.vocabulary)
    pool_file = args.output / "pool.txt"
    if not pool_file.exists():
        pool_file.write_text("\n".join(sentence_pool(args.data, args.seed, args.sentences)), "utf8")
    pool = pool_file.read_text("utf8").split("\n")
    reals = list(read_fixes(args.data, "{}"))
    proposals = [json.loads(line) for line in args.proposals.open()] if args.proposals else []
    maker = MistakeMaker.from_files(pieces, args.relations, reals)
    for sentence in pool[:40_000]:
        maker.frequency.update(sentence.lower().split())
    dev = DevMeasure(args.dev, pieces, every=2) if args.dev else None

    run = TrainingRun(args.output, args.base, args.rate)
    print(f"{len(pool)} sentences, {len(reals)} corrected mistakes, starts at {run.state}", flush=True)
    rng = random.Random(args.seed + run.state["step"])
    saved_at, cpu = time.time(), time.process_time()
    for used, batch in batches(reals, proposals, pool, maker, pieces, run.state["used"], args.seed):
        done = (time.time() - began) / (3600 * args.hours)
        rate = args.rate * min(1.0, (run.state["step"] + 1) / WARM_UP_STEPS)
        if args.finish and done > 1 - args.finish:
            rate *= max((1 - done) / args.finish, 0.0)
        run.step(batch, used, rate, rng)
        now = time.process_time()
        run.state["seconds"], cpu = run.state["seconds"] + now - cpu, now
        if run.state["step"] % 50 == 0:
            means = {name: round(mean, 3) for name, mean in run.mean_losses(50).items()}
            print(run.state["step"], run.state["pairs"], f"{run.state['seconds']:.0f}s", means, flush=True)
        if time.time() - saved_at > 60 * args.minutes or done >= 1:
            run.save(dev)
            saved_at, cpu = time.time(), time.process_time()
        if done >= 1:
            break


if __name__ == "__main__":
    main()
