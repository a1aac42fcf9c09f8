"""Register the entries of this plugin; their modules are imported on first use."""

from __future__ import annotations

from disambig.api import Register, hookimpl


@hookimpl
def disambig_register_extractors(register: Register) -> None:
    register("encoder.Evidence.v1", ".evidence:EncoderEvidence")
    register("encoder.CandidateOdds.v1", ".evidence:CandidateOdds")
    register("encoder.States.v1", ".evidence:EncoderStates")
    register("encoder.WhitenedStates.v1", ".evidence:WhitenedStates")
