"""Results as tables in Markdown."""

from __future__ import annotations

from measure import Job, Line, grid

HEAD = [
    *("contender", "whole, ms", "without imports, ms", "user+sys, ms", "peak, MB", "output, MB"),
    *("whole ÷ idxport", "without imports ÷ idxport", "runs", ""),
]
SUMMARY = ["job", "idxport, ms", "fastest peer, whole", "ratio", "fastest peer, without imports", "ratio", "aim"]


def fastest(lines: list[Line], inside: bool) -> Line | None:
    """The peer with the shortest whole run, or without imports."""
    peers = [line for line in lines[1:] if line.figures]
    return min(peers, key=lambda line: (line.figures.inside if inside else 0) or line.figures.wall, default=None)


def ratio(line: Line, lines: list[Line], inside: bool) -> float | None:
    """A peer's time by that of the first contender. inside is a peer's time without its start-up by idxport's whole time, which
    favours the peer; where the first contender is a script too, inside by inside."""
    first = lines[0].figures
    if line is lines[0] or not line.figures or not first:
        return None
    if not inside:
        return line.figures.wall / first.wall
    return line.figures.inside / (first.inside or first.wall) if line.figures.inside else None


def number(value: float | None, scale: float = 1, digits: int = 1) -> str:
    """A cell with a number, or a dash."""
    return "–" if value is None else f"{value * scale:.{digits}f}"


def mark(line: Line, lines: list[Line]) -> str:
    """What the last cell says of a contender."""
    kinds = [name for name, inside in (("whole", False), ("without imports", True)) if line is fastest(lines, inside)]
    return f"fastest peer, {' and '.join(kinds)}" if kinds else ""


def cells(line: Line, lines: list[Line]) -> list[str]:
    """A row under HEAD."""
    name = line.contender.name + (f" ({line.contender.note})" if line.contender.note else "")
    if not line.figures:
        return [name, *["–"] * 8, line.problem]
    figures = line.figures
    return [
        name,
        number(figures.wall, 1e3),
        number(figures.inside, 1e3),
        number(figures.cpu, 1e3),
        number(figures.peak),
        number(line.size),
        number(ratio(line, lines, False), digits=2),
        number(ratio(line, lines, True), digits=2),
        str(len(line.runs)),
        mark(line, lines),
    ]


def summary_cells(job: Job, lines: list[Line]) -> list[str]:
    """A row under SUMMARY. Where the first contender is a script, its time is that without imports."""
    first = lines[0].figures
    row = [job.name, number((first.inside or first.wall) if first else None, 1e3)]
    for inside in (False, True):
        peer = fastest(lines, inside)
        row += [peer.contender.name if peer else "–", number(ratio(peer, lines, inside) if peer else None, digits=2)]
    return [*row, f"{job.aim:g}"]


def summary(results: list[tuple[Job, list[Line]]]) -> str:
    """All jobs, one line each."""
    return grid(SUMMARY, [summary_cells(*result) for result in results])


def markdown(results: list[tuple[Job, list[Line]]], preamble: str) -> str:
    """All jobs as a document."""
    parts = [preamble, "\n## In short\n\nA ratio is the time of the fastest tool divided by idxport's. The aim is for the whole process.\n\n"]
    parts.append(summary(results))
    for job, lines in results:
        parts += [f"\n## {job.name}\n\n", grid(HEAD, [cells(line, lines) for line in lines])]
    return "".join(parts)
