"""The fixtures for pytest, and its option ``--forkcast-update``."""

import pytest

from . import capturing, checking


def pytest_addoption(parser):
    group = parser.getgroup("forkcast")
    group.addoption("--forkcast-update", action="store_true", help="write the locks that assert_prefix names")


@pytest.fixture
def sent_requests():
    """The bodies of all prompts that the test sends, as sent: a list that grows."""
    with capturing.capture() as sent:
        yield sent


@pytest.fixture
def assert_prefix(request):
    """``assert_prefix(requests, name=None)``: every request keeps the cached prefix of the one before.

    With a name, the requests are also those of ``__prefixes__/NAME.lock`` beside the test.
    """

    def check(requests, name=None, options=()):
        __tracebackhide__ = True
        lock = None if name is None else request.path.parent / "__prefixes__" / f"{name}.lock"
        update = True if request.config.getoption("--forkcast-update") else None
        checking.assert_prefix(requests, lock=lock, update=update, options=options)

    return check
