"""Test in Python that an agent keeps the prefix of its prompts: dump the bodies, let forkcast check the bytes.

    with PrefixCheck() as sent:
        for turn in range(3):
            sent.dump(agent.request_bytes(turn))

The bodies must be the bytes that go over the wire. With httpx, which most SDKs are built on, a hook has them:

    client = httpx.Client(event_hooks={"request": [lambda request: sent.dump(request.content)]})
    anthropic.Anthropic(http_client=client)

Run it alone (`python3 prefix_check.py`, or with the argument `broken`) to see both results. FORKCAST names the program.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile


class PrefixCheck:
    """Dumps the bodies of one conversation into a folder and checks them at the end."""

    def __init__(self, *options):
        self.options = options
        self.folder = tempfile.TemporaryDirectory()
        self.count = 0

    def __enter__(self):
        return self

    def dump(self, body: bytes):
        """Takes one request's body. The order of calls is the order of requests."""
        path = pathlib.Path(self.folder.name, f"{self.count:05}.json")
        path.write_bytes(body)
        self.count += 1

    def __exit__(self, kind, error, trace):
        with self.folder:
            if kind is None:
                self.check()

    def check(self):
        """Raises an AssertionError that names the first changed byte, the cause and the cost.

        Prompts in tests are short: with `--in-tests` their prefixes are checked all the same.
        """
        program = os.environ.get("FORKCAST", "forkcast")
        command = [program, "check", self.folder.name, "--lock", "none", "--in-tests", "--format", "json", "--quiet"]
        run = subprocess.run(command + list(self.options), capture_output=True, text=True)
        if run.returncode > 1:
            raise RuntimeError(run.stderr)
        report = json.loads(run.stdout)
        broken = [finding for finding in report["findings"] if finding["verdict"] == "fails"]
        assert run.returncode == 0, "\n".join(map(sentence, broken)) or run.stderr


def sentence(finding):
    offset = finding["offset_in_block"]
    byte = "" if offset is None else f", byte {offset}"
    cost = finding["cost_usd"]
    price = "" if cost is None else f" (${cost:.4f} a request)"
    return (
        f"request {finding['request']}: {finding['cause']} at {finding['path']}{byte}: {finding['name']}; "
        f"{finding['tokens_lost']} tokens are not read from the cache{price}. {finding['suggestion']}"
    )


def request(turn, today):
    """An agent's request, as a client would send it."""
    manual = "The house rules of this project, which every request repeats, word for word. " * 300
    messages = [{"role": "user", "content": "What does the parser do with an empty file?"}]
    for step in range(turn):
        messages.append({"role": "assistant", "content": f"I look at part {step}."})
        messages.append({"role": "user", "content": f"Go on with part {step + 1}."})
    last = {"type": "text", "text": messages[-1]["content"], "cache_control": {"type": "ephemeral"}}
    messages[-1] = {"role": "user", "content": [last]}
    system = [{"type": "text", "text": f"{manual} It is {today}."}]
    return {"model": "claude-opus-4-8", "max_tokens": 1024, "system": system, "messages": messages}


def test_the_prefix_is_kept(broken=False):
    with PrefixCheck() as sent:
        for turn in range(3):
            clock = f"2026-11-20 10:0{turn}:00" if broken else "November"
            sent.dump(json.dumps(request(turn, clock)).encode())


if __name__ == "__main__":
    try:
        test_the_prefix_is_kept(broken="broken" in sys.argv[1:])
    except AssertionError as error:
        sys.exit(f"{error}")
    print("the prefix is kept")
