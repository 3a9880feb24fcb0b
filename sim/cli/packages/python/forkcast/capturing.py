"""Capture of request bodies in this process, without a proxy.

The SDKs of Anthropic and OpenAI send with ``httpx2``, or with ``httpx`` in older versions. Both have the same clients, and
every request passes their ``send``, whoever made the client and when.
"""

import contextlib
import functools
import importlib.util
import json
from typing import Iterator, List

LIBRARIES = ("httpx2", "httpx")

#: Fields of bodies that are prompts: Messages and chat completions, Responses, Gemini.
PROMPTS = ("messages", "input", "contents")


@contextlib.contextmanager
def capture() -> Iterator[List[bytes]]:
    """The bodies of all prompts that clients of ``httpx`` and ``httpx2`` send while it is open, as sent, in order."""
    sent: List[bytes] = []
    with contextlib.ExitStack() as stack:
        for library in filter(importlib.util.find_spec, LIBRARIES):
            module = importlib.import_module(library)
            stack.enter_context(_replaced(module.Client, "send", functools.partial(_watched, sent)))
            stack.enter_context(_replaced(module.AsyncClient, "send", functools.partial(_watched, sent)))
        yield sent


@contextlib.contextmanager
def _replaced(owner, name, wrap):
    original = getattr(owner, name)
    setattr(owner, name, wrap(original))
    try:
        yield
    finally:
        setattr(owner, name, original)


def _watched(sent, send):
    """``send``, sync or async, for it is called with the request either way."""

    @functools.wraps(send)
    def watched(client, request, *args, **kwargs):
        # An upload that is streamed has no content yet (`RequestNotRead`); it is no prompt.
        with contextlib.suppress(RuntimeError):
            if _is_prompt(request.content):
                sent.append(request.content)
        return send(client, request, *args, **kwargs)

    return watched


def _is_prompt(body: bytes) -> bool:
    try:
        fields = json.loads(body)
    except ValueError:
        return False
    return isinstance(fields, dict) and any(field in fields for field in PROMPTS)
