"""The assertion: bodies in a folder, the program, its report."""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from .program import find_program

#: A body as sent. A mapping is written as the SDKs of Anthropic and OpenAI write it.
Body = Union[bytes, str, Mapping[str, Any]]
#: Bodies in the order in which they were sent; for several agents, those of each, by name.
Requests = Union[Iterable[Body], Mapping[str, Iterable[Body]]]


class NotChecked(Exception):
    """The requests could not be checked: one is unreadable, or the lock is."""


def assert_prefix(
    requests: Requests,
    *,
    lock: Optional["os.PathLike[str]"] = None,
    update: Optional[bool] = None,
    options: Sequence[str] = (),
) -> None:
    """Raises an ``AssertionError`` with the program's report if a request breaks the cached prefix of an earlier one.

    With ``lock``, the requests must also be those of this file. ``update``, or ``FORKCAST_UPDATE=1``, writes it.
    ``options`` are further options of ``forkcast check``.
    """
    __tracebackhide__ = True
    update = os.environ.get("FORKCAST_UPDATE") == "1" if update is None else update
    with tempfile.TemporaryDirectory(prefix="forkcast-") as folder:
        bodies = Path(folder, "requests")
        _write(requests, bodies)
        command = [find_program(), "check", str(bodies), "--in-tests", *_lock(lock, update), *options]
        run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    if run.returncode == 1:
        raise AssertionError(run.stdout)
    if run.returncode != 0:
        raise NotChecked(run.stderr.strip())


def _lock(lock, update):
    if lock is None:
        return ["--lock", "none"]
    if update:
        Path(lock).parent.mkdir(parents=True, exist_ok=True)
        return ["--lock", str(lock), "--update"]
    if not Path(lock).exists():
        raise AssertionError(f"no lock {lock} yet: FORKCAST_UPDATE=1 or pytest --forkcast-update writes it")
    return ["--lock", str(lock), "--locked"]


def _write(requests: Requests, folder: Path) -> None:
    agents = requests.items() if isinstance(requests, Mapping) else [(".", requests)]
    for agent, bodies in agents:
        place = folder / agent
        place.mkdir(parents=True, exist_ok=True)
        for number, body in enumerate(bodies):
            (place / f"{number:05}.json").write_bytes(_bytes(body))


def _bytes(body: Body) -> bytes:
    if isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
