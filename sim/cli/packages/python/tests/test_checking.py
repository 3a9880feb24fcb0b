"""The assertion and its locks; `python3 -m unittest` is enough."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import forkcast
from conversation import bodies


class AssertPrefix(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.lock = Path(folder.name, "__prefixes__", "agent.lock")

    def test_kept_prefixes_pass_in_each_form(self):
        forkcast.assert_prefix(bodies())
        forkcast.assert_prefix(json.dumps(body) for body in bodies())
        forkcast.assert_prefix(json.dumps(body).encode() for body in bodies())

    def test_a_moving_byte_is_named(self):
        with self.assertRaises(AssertionError) as failed:
            forkcast.assert_prefix(bodies(moves=True))
        self.assertIn("system_changed", str(failed.exception))
        self.assertIn("At system[0], first differing byte 27 of the field", str(failed.exception))

    def test_agents_have_chains_of_their_own(self):
        other = [{**body, "system": "Another agent."} for body in bodies()]
        forkcast.assert_prefix({"main": bodies(), "reader": other})

    def test_options_reach_the_program(self):
        with self.assertRaisesRegex(AssertionError, '"cause": ?"system_changed"'):
            forkcast.assert_prefix(bodies(moves=True), options=["--format", "json"])

    def test_a_lock_is_written_held_and_renewed(self):
        with self.assertRaisesRegex(AssertionError, "no lock .* yet"):
            forkcast.assert_prefix(bodies(), lock=self.lock)
        forkcast.assert_prefix(bodies(), lock=self.lock, update=True)
        forkcast.assert_prefix(bodies(), lock=self.lock)
        changed = [{**body, "system": "Other rules."} for body in bodies()]
        with self.assertRaisesRegex(AssertionError, "against the lock; rule equality"):
            forkcast.assert_prefix(changed, lock=self.lock)
        with mock.patch.dict(os.environ, FORKCAST_UPDATE="1"):
            forkcast.assert_prefix(changed, lock=self.lock)
        forkcast.assert_prefix(changed, lock=self.lock)

    def test_what_is_no_request_was_not_checked(self):
        with self.assertRaisesRegex(forkcast.NotChecked, "00000.json"):
            forkcast.assert_prefix(["{"])

    def test_the_module_is_the_program(self):
        run = subprocess.run([sys.executable, "-m", "forkcast", "--version"], capture_output=True, text=True)
        self.assertRegex(run.stdout, r"^forkcast \d")


if __name__ == "__main__":
    unittest.main()
