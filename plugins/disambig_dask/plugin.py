"""Hooks of the plugin: the engine ``dask``. Dask itself is imported when a job runs."""

from __future__ import annotations

from disambig.api import Register, hookimpl


@hookimpl
def disambig_register_runners(register: Register) -> None:
    register("dask.dask.v1", ".engine:make_engine")
