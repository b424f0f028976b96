"""Arrow streams of the program."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from ._program import IdxError, Program

if TYPE_CHECKING:
    import pyarrow as pa
    from nanoarrow.c_array_stream import CArrayStream

# The end of a stream: a marker, and a message of no bytes.
_END = b"\xff\xff\xff\xff\0\0\0\0"


class Output(Program):
    """A run that writes an Arrow stream and no files, and ends with what reads it."""

    _stream = True
    closed = False  # as pyarrow asks
    report: dict[str, Any] | None = None  # after the last batch
    failure: BaseException | None = None  # of which nanoarrow makes another

    def arrow(self) -> pa.RecordBatchReader:
        """Begin to read with pyarrow: a stream that ends the run when it is closed or deleted."""
        import pyarrow as pa

        stream = self._begun(lambda: pa.ipc.open_stream(self))
        stream.close = self.close  # its own does not reach what it reads from
        return stream

    def read(self, size: int) -> bytes:
        """What pyarrow calls. The end of the stream is that of the run, or its error."""
        try:
            data = self.stdout.read(size)
            if self.report is None and (len(data) < size or data == _END[4:]):
                self.report = self.finish()
            return data
        except BaseException:
            self.close()
            raise

    def c_stream(self) -> CArrayStream:
        """Begin to read without pyarrow, whose import takes longer than most queries. The stream keeps the run."""
        from nanoarrow import c_array_stream
        from nanoarrow.ipc import InputStream

        return self._begun(lambda: c_array_stream(InputStream.from_readable(_Readable(self))))

    def _begun(self, begin: Callable[[], Any]) -> Any:
        """What `begin` returns. If the program failed, raise its error for the one that follows from it."""
        try:
            return begin()
        except Exception as error:
            with self:
                if not (self.failure or isinstance(error, IdxError)) and any(not self.stdout.read(1 << 20) for _ in range(64)):  # of what is no stream
                    self.finish()
            raise (self.failure or error) from None


class _Readable:
    """What nanoarrow reads. It takes an interrupt that escapes for the end of the stream.

    `readinto` is no function of Python, since an interrupt may be raised before the first line of one.
    """

    def __init__(self, output: Output) -> None:
        reading = self._read(output)
        next(reading)
        self.readinto = reading.send

    @staticmethod
    def _read(output: Output) -> Generator[int, Any, None]:
        size, ended = 0, False
        try:
            while True:
                into = yield size
                size = output.stdout.readinto(into)  # type: ignore[attr-defined]
                ended, short = size == len(_END) and bytes(into) == _END, size < len(into)
                del into  # which refers to this
                if short:
                    output.finish()  # or raise the error of the program
        except GeneratorExit:  # nothing is read any more
            with output:
                output.stdout.close()
                if ended:
                    output.finish()  # for its warnings
        except BaseException as error:
            output.failure = error  # which refers to this: nothing else would end the run soon
            with output:
                raise error if isinstance(error, Exception) else IdxError(f"interrupted by {type(error).__name__}") from None
