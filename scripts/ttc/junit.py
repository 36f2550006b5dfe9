"""JUnit XML: written for CI (a suite a row, a case a check), read from ctest."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from ttc.rows import Row, totals
from ttc.tap import FAIL, OK, SKIP, Check

# XML 1.0 has no way to write these characters, and a diagnostic may hold any
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _clean(text: str) -> str:
    return _FORBIDDEN.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def _counts(rows: Sequence[Row]) -> dict[str, str]:
    passed, failed, skipped = totals(rows)
    numbers = {"tests": passed + failed + skipped, "failures": failed, "errors": 0, "skipped": skipped}
    return {name: str(number) for name, number in numbers.items()}


def _case(suite: ET.Element, row: Row, check: Check) -> None:
    attributes = {"classname": row.id, "name": _clean(check.name), "time": f"{check.seconds:.3f}"}
    case = ET.SubElement(suite, "testcase", attributes)
    if check.state == FAIL:
        first = check.detail[0] if check.detail else "failed"
        failure = ET.SubElement(case, "failure", {"message": _clean(first)})
        failure.text = _clean("\n".join(check.detail))
    elif check.state == SKIP:
        ET.SubElement(case, "skipped", {"message": _clean(check.reason)})


def write(path: Path, rows: Sequence[Row]) -> None:
    root = ET.Element("testsuites", {"name": "ten-thousand-connections", **_counts(rows)})
    for row in rows:
        attributes = {"name": row.id, "time": f"{row.seconds:.3f}", **_counts([row])}
        suite = ET.SubElement(root, "testsuite", attributes)
        for check in row.checks:
            _case(suite, row, check)
        if row.notes:
            ET.SubElement(suite, "system-out").text = _clean("\n".join(row.notes))
    ET.indent(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def read_ctest(path: Path) -> list[Check]:
    """The tests of ctest --output-junit."""
    return [_from_ctest(case) for case in ET.parse(path).getroot().iter("testcase")]


def _from_ctest(case: ET.Element) -> Check:
    check = Check(case.get("name", "?"), OK, seconds=float(case.get("time", 0)))
    skipped = case.find("skipped")
    if skipped is not None or case.get("status") in ("notrun", "disabled"):
        check.state, check.reason = SKIP, (skipped.get("message", "") if skipped is not None else "not run")
    elif case.find("failure") is not None or case.get("status") == "fail":
        check.state = FAIL
        check.detail = [f"# {line}" for line in (case.findtext("system-out") or "").splitlines()]
    return check
