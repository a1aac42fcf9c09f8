"""A server of fake models that is called without a network."""

from __future__ import annotations

import asyncio

import pytest


@pytest.fixture
def ask():
    """Send one request: ``ask("POST", "/v2/check", data=...)``; `serving` has options of the application."""
    import httpx
    from fake_checker import fake_checker

    from disambig.server import AllowedOrigins, ModelThread, ServerLimits, make_app

    workers = []

    def send(method, path, *, serving=None, **request):
        settings = {"limits": ServerLimits(), "origins": AllowedOrigins(), "checker": fake_checker()}
        settings |= serving or {}
        checker = settings.pop("checker")
        workers.append(ModelThread(checker.annotate))
        app = make_app(checker, workers[-1], **settings)

        async def one():
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8081") as client:
                return await client.request(method, path, **request)

        return asyncio.run(one())

    yield send
    for worker in workers:
        worker.end()
