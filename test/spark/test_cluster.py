"""A cluster of three executors on one machine, with JVMs of their own; some are killed during a job (Linux)."""

from __future__ import annotations

import os

from pyspark.sql import functions as sql

from support import MNIST, Slow, SparkCase, beside, descendants, expected_sums, kill, pixel_sums, read, running, started, wait_for

# Parts of the command lines of the executors' JVMs, and of their Python processes, which run the programs.
EXECUTOR, WORKER = "CoarseGrainedExecutorBackend", "pyspark.daemon"


class Killed(SparkCase):
    """Every row exactly once, although processes are killed."""

    # The killed executors are replaced; each kill fails a few attempts.
    master = "local-cluster[3,1,1024]"
    settings = {"spark_task_maxFailures": "8", "spark_deploy_maxExecutorRetries": "-1"}

    def setUp(self) -> None:
        super().setUp()
        wait_for(lambda: len(running(EXECUTOR)) == 3, "three executors")
        self.slow = Slow(self.folder / "slow", every=1)

    def frame(self, **options: str):
        """MNIST in 12 partitions, each of which takes a second before its first row."""
        return self.spark.read.format("idx").options(path=str(MNIST), split="train", rowsPerPartition="5000", rowIndex="true", binary=self.slow.path, **options).load()

    def busy(self, text: str) -> list[int]:
        """For each waiting program, in the order of their starts, the process with the text in its command line: itself
        or its nearest ancestor."""
        found, ours = [], descendants()
        for pid in sorted((pid for pid, (_, _, line) in ours.items() if self.slow.path in line), key=started):
            while pid in ours and text not in ours[pid][2]:
                pid = ours[pid][0]
            found += [pid] * (pid in ours)
        return found

    def kill_midway(self, text: str) -> None:
        """Kill a process of a running task when some are done: that of the last program that was started, which has the most time to wait."""
        enough = len(self.slow.starts()) + 4
        kill(wait_for(lambda: len(self.slow.starts()) >= enough and self.busy(text), "tasks")[-1])

    def check_sums(self, victim: str) -> None:
        expected = expected_sums(read(MNIST / "train-images-idx3-ubyte"), read(MNIST / "train-labels-idx1-ubyte"))
        for _ in range(3):  # a process may have finished its task when it is killed
            frame, before = self.frame(), len(self.slow.starts())
            killed = beside(lambda: self.kill_midway(victim))
            sums, rows = pixel_sums(frame), sorted(row._row for row in frame.select("_row").collect())
            killed()
            self.assertEqual((sums, rows), (expected, list(range(60_000))))
            self.assert_no_program_runs()
            if len(self.slow.starts()) > before + 24:  # an attempt was lost: both jobs have 12 tasks
                return
        self.fail("no attempt was lost")

    def test_executors_work_side_by_side(self) -> None:
        hosts = self.frame(select="_row").select(sql.spark_partition_id().alias("part"), "_row").mapInArrow(pids, "executor int, rows bigint").collect()
        self.assertEqual(sum(row.rows for row in hosts), 60_000)
        self.assertEqual(len({row.executor for row in hosts}), 3)

    def test_executor_killed_while_reading(self) -> None:
        self.check_sums(EXECUTOR)

    def test_python_worker_killed_while_reading(self) -> None:
        self.check_sums(WORKER)

    def test_program_killed_while_reading(self) -> None:
        self.check_sums(self.slow.path)

    def test_cancelled_job_ends_its_programs(self) -> None:
        slow = Slow(self.folder / "slower", delayed="any", delay=120)
        frame = self.spark.read.format("idx").options(path=str(MNIST), split="train", rowsPerPartition="5000", binary=slow.path).load()
        counted = beside(frame.count)
        wait_for(lambda: len(running(slow.path)) == 3, "three programs")
        self.spark.sparkContext.cancelAllJobs()
        with self.fails("cancelled"):
            counted()
        self.assert_no_program_runs()


def pids(batches):
    """For each partition, the process that its executor has as Python's daemon, and its rows."""
    import pyarrow as pa

    rows = sum(batch.num_rows for batch in batches)
    yield pa.record_batch({"executor": pa.array([os.getppid()], pa.int32()), "rows": pa.array([rows], pa.int64())})
