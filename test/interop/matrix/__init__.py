"""The matrix of layouts and readers: one corpus of files, read by every reader, and the table of what each of them
found.

corpus     makes the inputs and lets the binary convert them; cases.jsonl describes the files
cells      what readers share: the cases, the input's values, the record of what was found
arrays     values out of Arrow arrays, whatever the layout
python     pyarrow, pandas, polars, DuckDB, numpy, Pillow, OpenCV
refusals   files that readers refuse or read as something else, and why
assemble   MATRIX.md and the table of docs/formats.md, from the records; an unexpected record is a failure

The programs for JavaScript and Go are in ../node and ../go.
"""
