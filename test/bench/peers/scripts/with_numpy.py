"""numpy: CSV by savetxt, or by joining texts from a table. usage: with_numpy.py savetxt|join OUT IMAGES [LABELS]"""

import sys

import numpy as np

from idx import Inside, read


def main() -> None:
    """Do the job that the command line names."""
    inside = Inside()
    job, out, *inputs = sys.argv[1:]
    images = read(inputs[0])
    rows = images.reshape(len(images), -1)
    if len(inputs) > 1:
        rows = np.column_stack([read(inputs[1]), rows])
    if job == "savetxt":
        # Nine digits are what a float32 needs to read back.
        np.savetxt(out, rows, fmt="%d" if rows.dtype.kind == "u" else "%.9g", delimiter=",")
    else:
        # A byte has 256 texts; looking them up is the fastest way that stays in plain Python.
        texts = [str(value) for value in range(256)]
        with open(out, "w", encoding="ascii", newline="\n") as file:
            file.writelines(",".join([texts[value] for value in row.tobytes()]) + "\n" for row in rows)
    inside.done()


main()
