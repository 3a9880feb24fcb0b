"""Test that an agent keeps the prefix of its prompts, byte for byte.

With pytest, two fixtures are enough (``forkcast.pytest_plugin``)::

    def test_the_agent_keeps_its_prefix(sent_requests, assert_prefix):
        run_the_agent()
        assert_prefix(sent_requests, name="agent")

Without pytest::

    with forkcast.capture() as sent:
        run_the_agent()
    forkcast.assert_prefix(sent)

The program ``forkcast`` decides; this package only gives it the bodies and shows its report.
"""

from .capturing import capture
from .checking import NotChecked, assert_prefix
from .program import find_program

__all__ = ["NotChecked", "assert_prefix", "capture", "find_program"]
