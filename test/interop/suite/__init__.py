"""The interoperability suite: idxport's outputs, read by programs that share no code with it.

tensors    the inputs: arrays of every dtype and rank, and their IDX bytes
command    runs the binary
report     counts cases, prints groups
compare    what "equal" means, bit for bit or as parsed text
readers    pyarrow, DuckDB, polars, pandas, Pillow
check_*    the groups of cases, one file per format
"""
