"""polars: IPC, Parquet, CSV. usage: with_polars.py JOB OUT IMAGES [LABELS]"""

import sys

import polars as pl

from idx import Inside, read


def main() -> None:
    """Do the job that the command line names."""
    inside = Inside()
    job, out, *inputs = sys.argv[1:]
    images, labels = read(inputs[0]), read(inputs[1]) if len(inputs) > 1 else None
    flat = images.reshape(len(images), -1)
    if job == "csv":
        frame = pl.from_numpy(flat.T.copy().T, orient="row")  # columns in one piece; numpy.asfortranarray is slower
        if labels is not None:
            frame = frame.insert_column(0, pl.Series("label", labels))
        frame.write_csv(out, include_header=False)
    else:
        frame = pl.DataFrame({"image": flat} if labels is None else {"image": flat, "label": labels})  # 2-D gives Array
        if job == "arrow":
            frame.write_ipc(out)
        elif job == "parquet-none":
            frame.write_parquet(out, compression="uncompressed")
        else:
            frame.write_parquet(out, compression="zstd", compression_level=1)  # as the others; its default is 3
    inside.done()


main()
