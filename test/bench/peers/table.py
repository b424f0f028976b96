"""Results as text, Markdown and JSON."""

from __future__ import annotations

from dataclasses import asdict

from jobs import Job
from measure import Line

HEAD = ["contender", "wall, ms", "inside, ms", "user+sys, ms", "peak, MB", "output, MB", "wall ÷ idxport", "inside ÷ idxport", "runs", ""]


def fastest(lines: list[Line]) -> Line | None:
    """The peer with the shortest whole run."""
    peers = [line for line in lines[1:] if line.figures]
    return min(peers, key=lambda line: line.figures.wall, default=None)


def ratio(line: Line, lines: list[Line], inside: bool) -> float | None:
    """A peer's time by that of the first contender. inside is a peer's time without its start-up by idxport's whole time, which
    favours the peer; where the first contender is a script too, inside by inside."""
    first = lines[0].figures
    if line is lines[0] or not line.figures or not first:
        return None
    if not inside:
        return line.figures.wall / first.wall
    return line.figures.inside / (first.inside or first.wall) if line.figures.inside else None


def cells(line: Line, lines: list[Line]) -> list[str]:
    """A row under HEAD."""
    name = line.contender.name + (f" ({line.contender.note})" if line.contender.note else "")
    if not line.figures:
        return [name, *["–"] * 8, line.problem]
    figures, mark = line.figures, "fastest peer" if line is fastest(lines) else ""
    inside = "–" if figures.inside is None else f"{figures.inside * 1e3:.1f}"
    ratios = [ratio(line, lines, False), ratio(line, lines, True)]
    return [
        name,
        f"{figures.wall * 1e3:.1f}",
        inside,
        f"{figures.cpu * 1e3:.1f}",
        f"{figures.peak:.1f}",
        "–" if line.size is None else f"{line.size:.1f}",
        *("–" if value is None else f"{value:.2f}" for value in ratios),
        str(line.runs),
        mark,
    ]


def text(job: Job, lines: list[Line]) -> str:
    """A job for a terminal: columns aligned, numbers to the right."""
    rows = [[job.name, *HEAD[1:]], *(cells(line, lines) for line in lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD) - 1)]
    made = []
    for row in rows:
        numbers = [row[i].rjust(widths[i]) for i in range(1, len(widths))]
        made.append("  ".join([row[0].ljust(widths[0]), *numbers, row[-1]]).rstrip())
    return "\n".join(made) + "\n"


def markdown(results: list[tuple[Job, list[Line]]], preamble: str) -> str:
    """All jobs as a document."""
    parts = [preamble]
    for job, lines in results:
        parts.append(f"\n## {job.name}\n\n| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD) + "\n")
        parts += ["| " + " | ".join(cells(line, lines)) + " |\n" for line in lines]
    return "".join(parts)


def plain(results: list[tuple[Job, list[Line]]]) -> list[dict]:
    """All jobs for JSON: seconds and MB, unrounded."""
    made = []
    for job, lines in results:
        entries = []
        for line in lines:
            entry = {"name": line.contender.name, "note": line.contender.note, "runs": line.runs, "size": line.size, "problem": line.problem}
            entry |= asdict(line.figures) if line.figures else {}
            entry |= {"wall_ratio": ratio(line, lines, False), "inside_ratio": ratio(line, lines, True), "fastest_peer": line is fastest(lines)}
            entries.append(entry)
        made.append({"job": job.name, "contenders": entries})
    return made
