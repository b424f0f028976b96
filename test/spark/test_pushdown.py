"""Filters on the row index, which Spark 4.1 and later push down; and Arrow types, which later versions check more strictly."""

from __future__ import annotations

import numpy as np

from support import Slow, SparkCase, column, equal, random, table, write


class Pushdown(SparkCase):
    """Only the selected rows are read."""

    settings = {"spark_sql_python_filterPushdown_enabled": "true"}

    def setUp(self) -> None:
        super().setUp()
        self.slow = Slow(self.folder / "slow")
        self.values = random("uint8", (1000,))
        self.path = write(self.folder / "x", "uint8", self.values)

    def rows(self, where: str, **options: str) -> list[int]:
        frame = self.spark.read.format("idx").options(path=self.path, rowIndex="true", binary=self.slow.path, rowsPerPartition="100", **options).load().where(where)
        rows = frame.collect()
        self.assertEqual([row.data for row in rows], [int(self.values[row._row]) for row in rows])
        return sorted(row._row for row in rows)

    def test_ranges(self) -> None:
        for where, expected, reads in (
            ("_row >= 250 and _row < 420", range(250, 420), ["250-350", "350-420"]),
            ("_row = 7", [7], ["7-8"]),
            ("_row between 998 and 5000", [998, 999], ["998-1000"]),
            ("_row in (3, 4, 5, 900)", [3, 4, 5, 900], ["3-6", "900-901"]),
            ("_row < 0", [], []),
            ("_row <= 1 and data >= 0", [0, 1], ["0-2"]),
        ):
            with self.subTest(where):
                before = self.slow.starts()
                self.assertEqual(self.rows(where, pushFilters="true"), list(expected))
                started = self.slow.starts()
                for range_ in before:
                    started.remove(range_)
                self.assertEqual(started, reads)

    def test_what_is_not_pushed_is_filtered_by_spark(self) -> None:
        small = [int(row) for row in np.flatnonzero(self.values < 9)]
        self.assertEqual(self.rows("data < 9", pushFilters="true"), small)
        self.assertEqual(self.rows("_row % 2 = 1 or _row = 4", pushFilters="true"), sorted([*range(1, 1000, 2), 4]))
        self.assertEqual(self.rows("_row <> 5", pushFilters="true"), [row for row in range(1000) if row != 5])
        many = [*range(0, 400, 2)]
        self.assertEqual(self.rows(f"_row in ({','.join(map(str, many))})", pushFilters="true"), many)

    def test_without_the_option(self) -> None:
        self.assertEqual(self.rows("_row = 7"), [7])


class Newer(SparkCase):
    """The same values as with Spark 4.0."""

    settings = Pushdown.settings

    def test_types(self) -> None:
        values, columns = table(self.folder, 50)
        for layout in ("list", "nested", "binary"):
            rows = self.load(columns=columns, layout=layout).collect()
            for name, expected in values.items():
                self.assertTrue(equal(column(rows, name, expected), expected), (name, layout))
