"""The fixtures, in a pytest of their own."""

import unittest

try:
    import pytest
except ImportError:
    raise unittest.SkipTest("pytest is not installed")

pytest_plugins = ["pytester"]

TEST = """
from conversation import bodies

def test_agent(assert_prefix):
    assert_prefix(bodies(moves={moves}), name={name})
"""


def run(pytester, *options, moves=False, name=None):
    pytester.makepyfile(TEST.format(moves=moves, name=repr(name)))
    return pytester.runpytest_subprocess("-p", "forkcast.pytest_plugin", *options)


def test_a_failing_test_names_the_byte(pytester):
    run(pytester).assert_outcomes(passed=1)
    result = run(pytester, moves=True)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*AssertionError: a cached prefix is broken*", "*first differing byte 27 of the field*"])


def test_the_option_writes_locks_beside_the_test(pytester):
    run(pytester, name="agent").assert_outcomes(failed=1)
    run(pytester, "--forkcast-update", name="agent").assert_outcomes(passed=1)
    assert (pytester.path / "__prefixes__" / "agent.lock").read_text().startswith("# Prompt prefixes")
    run(pytester, name="agent").assert_outcomes(passed=1)
