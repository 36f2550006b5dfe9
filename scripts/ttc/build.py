"""Configures and builds the one tree of all chapters; output is kept for when it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ttc.run import Programs

BUILD_LIMIT = 3600.0


class BuildError(Exception):
    """A build failed; output is what the tools said."""

    def __init__(self, what: str, output: list[str]) -> None:
        super().__init__(what)
        self.output = output


class Tree:
    """The build of the examples with one preset: in build/<preset>, unless `out` says elsewhere."""

    def __init__(
        self,
        root: Path,
        preset: str,
        programs: Programs,
        progress: Callable[[str], object] = lambda line: None,
        out: Path | None = None,
        options: Sequence[str] = (),
    ) -> None:
        self.source = root / "examples"
        self.preset = preset
        self.out = out or root / "build" / preset
        self._options = list(options)
        self._programs = programs
        self._progress = progress

    def app(self, *parts: str) -> Path:
        return self.out.joinpath(*parts, "app")

    def configure(self) -> None:
        """Does nothing when the tree is configured: ninja sees changed CMake files by itself."""
        if not (self.out / "build.ninja").exists():
            argv = ["cmake", "--preset", self.preset, "-B", str(self.out), *self._options]
            self._run(argv, "cmake could not configure")

    def build(self, target: str = "all") -> None:
        self.configure()
        argv = ["cmake", "--build", str(self.out), "--target", target]
        self._run(argv, f"'{target}' does not build")

    def _run(self, argv: list[str], what: str) -> None:
        output: list[str] = []

        def on_line(line: str) -> None:
            output.append(line)
            self._progress(line)

        run = self._programs.run
        try:
            outcome = run(argv, cwd=self.source, limit=BUILD_LIMIT, on_line=on_line, merge=True)
        except FileNotFoundError as error:
            raise BuildError(what, [f"{error.filename}: not found"]) from error
        if outcome.interrupted:
            raise KeyboardInterrupt
        if outcome.status != 0:
            raise BuildError(what, output + ([outcome.ended] if outcome.ended else []))
