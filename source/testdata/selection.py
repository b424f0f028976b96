#!/usr/bin/env python3
"""Random selections of rows, as docs/formats.md describes them, in plain Python.

It shares no code with idxport. Run it to write selection.json, which selection_test.go compares."""

import json
import pathlib

MASK64, MASK128 = (1 << 64) - 1, (1 << 128) - 1
HOLDOUT, SHUFFLE = 1, 2  # streams


class Random:
    """PCG-DXSM (O'Neill, Numpy 17535) with the state that seed and stream make."""

    MULTIPLIER = 2549297995355413924 << 64 | 4865540595714422341
    INCREMENT = 6364136223846793005 << 64 | 1442695040888963407

    def __init__(self, seed: int, stream: int):
        self.state = seed << 64 | stream

    def next(self) -> int:
        self.state = (self.state * self.MULTIPLIER + self.INCREMENT) & MASK128
        high, low = self.state >> 64, self.state & MASK64 | 1
        high ^= high >> 32
        high = high * 0xDA942042E4DD58B5 & MASK64
        high ^= high >> 48
        return high * low & MASK64

    def below(self, n: int) -> int:
        """A number from 0 to n-1 (Lemire 2019)."""
        product = self.next() * n
        while product & MASK64 < (1 << 64) % n:
            product = self.next() * n
        return product >> 64


def quotas(n: int, counts: "list[int]") -> "list[int]":
    """Divides n among strata in proportion to counts, by largest remainders."""
    total = sum(counts)
    if total == 0:
        return [0] * len(counts)
    shares = [n * c // total for c in counts]
    remainders = [n * c % total for c in counts]
    order = sorted(range(len(counts)), key=lambda i: (-remainders[i], i))
    for i in order[: n - sum(shares)]:
        shares[i] += 1
    return shares


def holdout(rows: "list[int]", n: int, random: Random, labels=None) -> "tuple[list[int], list[int]]":
    """Divides rows into those that are left and n that are held out; stratified by labels[row]."""
    stratum = (lambda row: 0) if labels is None else (lambda row: int(labels[row]))
    names = sorted({stratum(row) for row in rows})
    counts = {s: 0 for s in names}
    for row in rows:
        counts[stratum(row)] += 1
    quota = dict(zip(names, quotas(n, [counts[s] for s in names])))
    left, held = [], []
    for row in rows:
        s = stratum(row)
        taken = random.below(counts[s]) < quota[s]
        counts[s] -= 1
        quota[s] -= taken
        (held if taken else left).append(row)
    return left, held


def shuffle(rows: "list[int]", random: Random) -> "list[int]":
    """Fisher and Yates, from the last to the second."""
    rows = list(rows)
    for i in range(len(rows) - 1, 0, -1):
        j = random.below(i + 1)
        rows[i], rows[j] = rows[j], rows[i]
    return rows


def main():
    cases = []
    for seed in (0, 1, 42, 2**63 - 1):
        for n, k in ((1, 1), (10, 3), (100, 0), (1000, 100), (257, 256)):
            labels = [row * row % 7 for row in range(n)]
            left, held = holdout(list(range(n)), k, Random(seed, HOLDOUT))
            _, stratified = holdout(list(range(n)), k, Random(seed, HOLDOUT), labels)
            cases.append({
                "seed": seed, "rows": n, "hold_out": k, "held": held, "stratified": stratified,
                "shuffled": shuffle(left, Random(seed, SHUFFLE)),
            })
    numbers = [Random(7, 9).next()]
    text = json.dumps({"first": numbers[0], "cases": cases}, separators=(",", ":"))
    pathlib.Path(__file__).with_name("selection.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
