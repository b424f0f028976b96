"""What interop's programs share, and checks of readers in Python that are not about single files.

tensors    the inputs: arrays of every data type and rank, and their IDX bytes
stage      a folder, the program, and comparisons
classes    the column of class names
parts      outputs of many files
skipping   row groups that a filter leaves out
"""
