"""pandas: CSV, and Parquet with a list per row. usage: with_pandas.py JOB OUT IMAGES [LABELS]"""

import sys

import pandas as pd

from idx import Inside, read


def main() -> None:
    """Do the job that the command line names."""
    inside = Inside()
    job, out, *inputs = sys.argv[1:]
    images, labels = read(inputs[0]), read(inputs[1]) if len(inputs) > 1 else None
    flat = images.reshape(len(images), -1)
    if job == "csv":
        frame = pd.DataFrame(flat)
        if labels is not None:
            frame.insert(0, "label", labels)
        frame.to_csv(out, header=False, index=False)
    else:
        frame = pd.DataFrame({"image": list(flat)} if labels is None else {"image": list(flat), "label": labels})
        frame.to_parquet(out, compression=None if job == "parquet-none" else "zstd", index=False)
    inside.done()


main()
