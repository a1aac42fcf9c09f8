"""Train the models of the pack on text that was not counted, and their networks on counted text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from disambig_variance_svm.pronoun_it import pick_examples, read_ewt, read_qa_it
from material import HOME, VERSION, read_people, read_text

from disambig.config import read_config, resolve
from disambig.data import find_examples
from disambig.experiments import log_progress
from disambig.formats import Labelled
from disambig.models import Model
from disambig.training import FittedExtractor, split, train, train_labelled
from disambig.types import FeatureExtractor

FLAGS_PER_1000 = {"preposition": 0.1, "spelling": 0.35}
"""Default rates (see the card)."""
NO_SETTINGS: Mapping[str, int] = {}


def learn_it(data: Path, counts: str) -> Model:
    """Train the model of "it" on QA-It, EWT without its test part, and examples picked by patterns."""
    config = it_config(counts)
    examples = [*read_qa_it(data), *it_examples(data)]
    about: dict[str, Any] = {"name": "disambig_en/it", "version": VERSION, "config": config}
    return train_labelled(resolve(config), examples, **about, progress=log_progress)


def it_examples(data: Path) -> list[Labelled]:
    """Return the examples of "it" besides QA-It: EWT without its test part, and those picked by patterns."""
    return [*read_ewt(data, "train"), *read_ewt(data, "dev"), *pick_examples(data)]


def it_config(counts: str) -> dict[str, Any]:
    """Return the config of *it* with a count table."""
    config = dict(read_config(HOME / "it.cfg"))
    config["extractors"]["counts"]["counts"] = counts
    return config


def learn(
    task: str,
    data: Path,
    domains: Sequence[str],
    counts: str,
    *,
    network: FeatureExtractor | None = None,
    settings: Mapping[str, int] = NO_SETTINGS,
    every: int = 1,
    examples: int = 20_000,
    gaps: Path | None = None,
) -> Model:
    """Train the model of one task on the held-out text of `domains`.

    `network` was trained on the same text, on every n-th paragraph, for runs with another table of counts;
    `settings` replace those of its config. `examples` is the maximum number of training instances per group.
    `gaps` has the weights of empty places, if not the shipped ones: for models that leave a domain out.
    """
    config = dict(read_config(HOME / f"{task}.cfg"))
    for name in {"counts", "heads"} & set(config["extractors"]):
        config["extractors"][name]["counts"] = counts
    config["extractors"]["words"].update(settings)
    if gaps is not None and task == "preposition":
        config["task"]["gaps"] = config["extractors"]["place"]["gaps"] = str(gaps)
    texts = split(read_text(data, "heldout", domains))
    components = resolve(config)
    if network is None:  # networks learn from counted text, of which there is much more
        view = components["tokenisation"](list(read_text(data, "train", domains))[::every])
        log_progress("learning the network over words", 0, 1)
        instances = find_examples(components["task"], view)
        network = components["extractors"]["words"].fit(view, instances, components["task"].groups)
    components["extractors"]["words"] = FittedExtractor(network)
    mistakes, clean = read_people(data, "train")
    return train(
        components,
        texts,
        name=f"disambig_en/{task}",
        version=VERSION,
        config=config,
        flags_per_1000=FLAGS_PER_1000[task],
        max_examples=examples,
        mistakes=mistakes,
        clean=clean,
        progress=log_progress,
    )
