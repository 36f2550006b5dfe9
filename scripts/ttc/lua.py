"""The Lua 5.4 interpreter, by the name that this distribution gives it."""

from __future__ import annotations

import shutil

LUA = next((name for name in ("lua5.4", "lua-5.4", "lua") if shutil.which(name)), "lua5.4")
