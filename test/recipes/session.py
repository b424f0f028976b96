"""Run statements as Python's prompt does, and tell what each printed.

usage: PYTHON session.py JOB        in the folder where the statements are to run

JOB is a JSON file: {"spark": bool, "blocks": [{"language": "python" or "sql", "text": …}]}. It is replaced by a list
with an entry for each statement that was run: {"block": number, "line": its first line in the block, "printed": …};
the last one has "error" if it failed. All blocks share one namespace and one in-memory DuckDB. This file needs only
the standard library: each environment runs it.
"""

import ast
import contextlib
import io
import json
import os
import sys
import traceback
from pathlib import Path


def spark_session():
    """The session that `pyspark` starts with, in this process, on two cores."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_LOCAL_IP": "127.0.0.1"}
    return SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()


def run_sql(query):
    """A line of names and a line for each row."""
    import duckdb

    relation = duckdb.sql(query)
    if relation is not None:  # a statement with a result
        for row in [relation.columns, *relation.fetchall()]:
            print(*row)


def statements(block):
    """The first line and a function for each statement of a block."""
    if block["language"] == "sql":
        yield 1, lambda names: run_sql(block["text"])
        return
    for node in ast.parse(block["text"]).body:
        code = compile(ast.Interactive([node]), "<block>", "single")  # prints the value of an expression
        yield node.lineno, lambda names, code=code: exec(code, names)


def run(job):
    """Run all blocks; stops at the first failure."""
    done, names = [], {"__name__": "__main__"}
    if job["spark"]:
        names["spark"] = spark_session()
    for number, block in enumerate(job["blocks"]):
        for line, statement in statements(block):
            entry = {"block": number, "line": line}
            done.append(entry)
            printed = io.StringIO()
            try:
                with contextlib.redirect_stdout(printed):
                    statement(names)
            except Exception:
                entry["error"] = traceback.format_exc()
                return done
            finally:
                entry["printed"] = printed.getvalue()
    return done


def main():
    """Read the job, run it, write the result."""
    path = Path(sys.argv[1])
    result = run(json.loads(path.read_text()))
    path.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
