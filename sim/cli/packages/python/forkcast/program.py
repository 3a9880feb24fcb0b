"""Where the program is."""

import os
import shutil
import sysconfig
from pathlib import Path


def find_program() -> str:
    """The program: ``FORKCAST_BIN``, else the one of this package, else the one on ``PATH``."""
    named = os.environ.get("FORKCAST_BIN")
    if named:
        return named
    name = "forkcast.exe" if os.name == "nt" else "forkcast"
    schemes = [sysconfig.get_default_scheme() if hasattr(sysconfig, "get_default_scheme") else None, f"{os.name}_user"]
    folders = [sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts") for scheme in schemes]
    for folder in folders:
        if Path(folder, name).is_file():
            return str(Path(folder, name))
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"no program `{name}` in {', '.join(folders)} or on PATH; FORKCAST_BIN can name it")
    return found
