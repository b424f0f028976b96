"""Files that readers are known to refuse or to read as something else, and why. Each row is checked: it must happen, with this message."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """Files that a reader does not read. The patterns must match all of a file's layout, codec and name."""

    reader: str
    format: str
    words: str  # a pattern in what the reader says
    why: str
    layout: str = ".*"
    codec: str = ".*"
    file: str = ".*"

    def covers(self, case: dict[str, str]) -> bool:
        """Whether the file is one of these."""
        patterns = ((self.format, case["format"]), (self.layout, case["layout"]), (self.codec, case["codec"]), (self.file, case["file"]))
        return all(re.fullmatch(pattern, value) for pattern, value in patterns)


REFUSALS = [
    Refusal(
        "apache-arrow", "arrows?", "Record batch is compressed but codec not found",
        "brings along no codec: register one, or leave Arrow uncompressed, which is the default", codec="lz4|zstd",
    ),
    Refusal(
        "datasets", "parquet|arrow", r"Arrow type extension<arrow.fixed_shape_tensor.* does not have a datasets dtype equivalent",
        "does not support extension types", layout="tensor",
    ),
    Refusal(
        "datasets", "parquet|arrow", 'Instruction "train" corresponds to no data', "load_dataset refuses tables without rows",
        layout="(?!tensor).*", file=r"\w+-0(x.*)?\..*",
    ),
    Refusal("datasets", "png", "KeyError: 'label'", "imagefolder gives no labels where all images are of one class", file=r"uint8-1x1x1\.png"),
    Refusal(
        "DuckDB", "csv", r"Could not convert DATE \(infinity\)", "interprets a column as dates if its first value is an infinity: specify the column types",
        file=r"float\d\d-1x7x9\.csv",
    ),
    Refusal(
        "Spark", "csv", "columns with infinities are text", "interprets infinities as text without the options positiveInf=inf and negativeInf=-inf",
        file=r"float.*\.csv",
    ),
    Refusal("Spark", "png", "values differ", "its data source `image` has 8 bits per channel, so 16-bit grey loses its lower 8 bits", file=r"grey-int16.*"),
]  # fmt: skip
