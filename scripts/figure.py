#!/usr/bin/python3
"""Makes the .svg beside each diagrams/*.excalidraw. With --check: exit 1 when one does not agree."""

import argparse
import sys
from pathlib import Path

from ttc import figure_svg
from ttc.figure_model import FigureError

ROOT = Path(__file__).resolve().parent.parent


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def process(source: Path, check: bool) -> bool:
    """Renders one figure, or compares it. True when all is well."""
    target = source.with_suffix(".svg")
    try:
        svg = figure_svg.render_file(source)
    except (FigureError, OSError, UnicodeDecodeError) as error:
        for line in str(error).splitlines():
            print(f"{shown(source)}: {line}", file=sys.stderr)
        return False
    old = target.read_text(encoding="utf-8") if target.exists() else None
    if check:
        if old != svg:
            print(f"{shown(target)}: does not agree with its source; run scripts/figure.py", file=sys.stderr)
        return old == svg
    if old != svg:
        target.write_text(svg, encoding="utf-8")
        print(f"{shown(target)}: written")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 on a difference")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: diagrams/*.excalidraw")
    args = parser.parse_args()
    sources = [f.resolve() for f in args.files] or sorted((ROOT / "diagrams").glob("*.excalidraw"))
    if not sources:
        print("figure.py: no figures in diagrams/", file=sys.stderr)
        return 1
    results = [process(source, args.check) for source in sources]
    print(f"figure.py: {sum(results)} of {len(results)} figures in order")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
