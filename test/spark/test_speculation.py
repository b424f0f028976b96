"""Speculative attempts: a late task is run a second time, and its rows count once.

Spark never runs the second attempt on the host of the first, so local-cluster, which is one host, has none. This is a
cluster of a master and two workers whose hosts are two addresses of the loopback interface (Linux: all of
127.0.0.0/8).
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import pyspark

from support import MNIST, Case, Slow, expected_sums, pixel_sums, read, session, stop, wait_for

HOSTS = ("127.0.0.2", "127.0.0.3")


def daemon(place: str, host: str, name: str, *arguments: str) -> subprocess.Popen:
    """A master or a worker, with its log."""
    home = Path(pyspark.__file__).parent
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": host, "SPARK_WORKER_DIR": f"{place}/work", "SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1"}
    with open(f"{place}/{host}.log", "wb") as log:
        command = [f"{home}/bin/spark-class", f"org.apache.spark.deploy.{name}", "--host", host, "--webui-port", "0", *arguments]
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log)


def setUpModule() -> None:
    global spark
    place = tempfile.mkdtemp(dir=os.environ.get("TMPDIR"))
    master = daemon(place, "127.0.0.1", "master.Master", "--port", "0")
    unittest.addModuleCleanup(end, master)
    url = wait_for(lambda: re.search(r"spark://[0-9.]+:[1-9][0-9]*", Path(place, "127.0.0.1.log").read_text()), "the master")[0]
    for host in HOSTS:
        unittest.addModuleCleanup(end, daemon(place, host, "worker.Worker", "--cores", "2", "--memory", "1g", url))
    speculation = {"spark_speculation": "true", "spark_speculation_interval": "200ms", "spark_speculation_quantile": "0.5", "spark_speculation_multiplier": "1.5"}
    spark = session(url, **speculation, spark_executor_memory="1g", spark_speculation_minTaskRuntime="500ms", spark_driver_host="127.0.0.1")
    unittest.addModuleCleanup(stop)
    wait_for(lambda: spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() == 3, "two executors and the driver")


def end(process: subprocess.Popen) -> None:
    """End a daemon, and with it the executors that it has started."""
    process.terminate()
    process.wait(60)


class Speculation(Case):
    """One attempt is delayed for longer than the tests wait."""

    def test_read(self) -> None:
        slow = Slow(self.folder / "slow", delayed="10000:20000", delay=900)
        frame = spark.read.format("idx").options(path=str(MNIST), split="train", rowsPerPartition="10000", binary=slow.path).load()
        images, labels = read(MNIST / "train-images-idx3-ubyte"), read(MNIST / "train-labels-idx1-ubyte")
        self.assertEqual(pixel_sums(frame), expected_sums(images, labels))
        self.assertEqual(slow.starts().count("10000-20000"), 2)
        self.assert_no_program_runs()


if __name__ == "__main__":
    unittest.main()
