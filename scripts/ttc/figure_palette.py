"""The colours of every figure in the book. One thing has one colour, from the first chapter to the last."""

PAPER = "#fbf8f1"   # the panel under a figure, so that it reads on a light and on a dark page
INK = "#1f2933"     # text, and the arrows that need no other colour
MUTED = "#55606c"   # secondary text and axes

# role: (stroke, fill)
ROLES: dict[str, tuple[str, str]] = {
    "kernel": ("#46546b", "#dde3ec"),
    "process": ("#1f5f9e", "#dbe9f8"),
    "thread": ("#22703a", "#d8efdc"),
    "connection": ("#6b43a6", "#e9e0f6"),
    "queue": ("#0f6b6b", "#d3eeec"),
    "waits": ("#854800", "#fde2ab"),   # amber: whatever waits
}

TRANSPARENT = "transparent"
STROKES = {INK, MUTED, *(stroke for stroke, _ in ROLES.values())}
FILLS = {TRANSPARENT, PAPER, "#ffffff", *(fill for _, fill in ROLES.values())}


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, as WCAG defines it."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
