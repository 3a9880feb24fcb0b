"""The newest SDKs of Anthropic and OpenAI, captured against a loopback server."""

import asyncio
import importlib.util
import unittest

import forkcast
from conversation import messages, system
from loopback import provider

has = importlib.util.find_spec

# A breakpoint at the end of each request, whatever the version of the SDK.
MARKED = {"cache_control": {"type": "ephemeral"}}


def anthropic_turns(address, moves=False):
    import anthropic

    client = anthropic.Anthropic(api_key="none", base_url=address)
    for turn in range(3):
        client.messages.create(
            model="claude-opus-4-8",
            max_tokens=1024,
            system=system(turn, moves),
            messages=messages(turn),
            extra_body=MARKED,
        )


def openai_turns(address, moves=False):
    import openai

    client = openai.OpenAI(api_key="none", base_url=f"{address}/v1")
    for turn in range(3):
        said = [{"role": "system", "content": system(turn, moves)}, *messages(turn)]
        client.chat.completions.create(model="gpt-5.6", messages=said)


async def anthropic_async_turns(address):
    import anthropic

    async with anthropic.AsyncAnthropic(api_key="none", base_url=address) as client:
        for turn in range(3):
            await client.messages.create(
                model="claude-opus-4-8",
                max_tokens=1024,
                system=system(turn, False),
                messages=messages(turn),
                extra_body=MARKED,
            )


class Sdks(unittest.TestCase):
    def holds(self, turns):
        with provider() as (address, got), forkcast.capture() as sent:
            turns(address)
        self.assertEqual(sent, got)
        self.assertEqual(len(sent), 3)
        forkcast.assert_prefix(sent)
        return sent

    def breaks(self, turns, cause):
        with provider() as (address, _), forkcast.capture() as sent:
            turns(address, moves=True)
        with self.assertRaisesRegex(AssertionError, cause):
            forkcast.assert_prefix(sent)

    @unittest.skipUnless(has("anthropic"), "the SDK of Anthropic is not installed")
    def test_anthropic(self):
        self.holds(anthropic_turns)
        self.breaks(anthropic_turns, "system_changed")

    @unittest.skipUnless(has("anthropic"), "the SDK of Anthropic is not installed")
    def test_anthropic_async(self):
        self.holds(lambda address: asyncio.run(anthropic_async_turns(address)))

    @unittest.skipUnless(has("openai"), "the SDK of OpenAI is not installed")
    def test_openai(self):
        self.holds(openai_turns)
        self.breaks(openai_turns, "system_changed|message_edited")

    @unittest.skipUnless(has("anthropic"), "the SDK of Anthropic is not installed")
    def test_nothing_is_captured_after_it(self):
        sent = self.holds(anthropic_turns)
        with provider() as (address, _):
            anthropic_turns(address)
        self.assertEqual(len(sent), 3)


if __name__ == "__main__":
    unittest.main()
