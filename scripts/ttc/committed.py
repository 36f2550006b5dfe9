"""Files as git has them in HEAD."""

from __future__ import annotations

import subprocess
from pathlib import Path


def read(root: Path, path: Path) -> bytes | None:
    """The committed content of a file, or None: not a repository, no commit, or not in it."""
    argv = ["git", "-C", str(root), "show", f"HEAD:./{path.relative_to(root)}"]
    try:
        result = subprocess.run(argv, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        return None
    return result.stdout if result.returncode == 0 else None
