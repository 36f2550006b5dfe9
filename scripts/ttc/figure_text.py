"""How wide text comes out. We cannot know the reader's font, so each glyph counts as the wider of
Liberation Sans (the metrics of Arial) and DejaVu Sans: what fits here fits in both."""

LINE_HEIGHT = 1.25
SANS = 2   # Excalidraw's number for Helvetica
MONO = 3   # Excalidraw's number for Cascadia
STACKS = {
    SANS: "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif",
    MONO: "Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace",
}
MONO_WIDTH = 0.61

# thousandths of the font size: the glyphs which are that wide
GLYPHS = {
    280: "'ijl", 300: "I", 320: " ,.’·", 340: "/:;\\|", 360: "f", 380: "-", 400: "()[]t",
    420: "!r", 460: '"', 500: "*J`", 520: "“”", 540: "sz", 560: "?L_c–", 580: "k", 600: "vxy",
    620: "FTaeo", 640: "$0123456789bdghnpqu{}µ", 680: "EKPSY", 700: "ABVXZ", 740: "CRU",
    760: "HN", 780: "&DG", 800: "OQ", 820: "w", 840: "#+<=>^~×≥≤", 880: "M", 960: "%",
    980: "m", 1000: "W…—→←", 1020: "@",
}
WIDTHS = {glyph: width / 1000 for width, glyphs in GLYPHS.items() for glyph in glyphs}
WIDEST = max(WIDTHS.values())


def line_width(line: str, size: float, family: int = SANS) -> float:
    """Estimated width of one line of text, in pixels."""
    if family == MONO:
        return MONO_WIDTH * size * len(line)
    return size * sum(WIDTHS.get(glyph, WIDEST) for glyph in line)


def text_size(text: str, size: float, family: int = SANS) -> tuple[float, float]:
    """Estimated width and height of a text of one or more lines."""
    lines = text.split("\n")
    return max(line_width(line, size, family) for line in lines), len(lines) * size * LINE_HEIGHT
