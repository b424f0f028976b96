"""The interoperability suite: idxport's outputs, read by programs that share no code with it.

tensors    the inputs: arrays of every data type and rank, and their IDX bytes
bench      runs the binary, compares values, counts cases
check_*    the groups of cases; check_values reads the corpus of the matrix with the readers of Python
"""
