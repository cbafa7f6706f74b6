"""Reads the operations of a recording (chaos/trace/log/operation_list_format.cc)."""

import dataclasses
import struct

MAGIC = b"gauntlet operations\n"
VERSION = 1
CREATE, WRITE, TRUNCATE, RENAME = 0, 1, 2, 8
UNLINK, MAKE_DIRECTORY, REMOVE_DIRECTORY = 12, 13, 14
LAST_CHANGE = 18  # later kinds sync, map, read and close


@dataclasses.dataclass
class Operation:
    kind: int
    file: int
    name: str
    length: int

    def changes(self):
        return self.kind <= LAST_CHANGE

    def begins_file(self):
        return self.kind == CREATE or (self.kind == TRUNCATE
                                       and self.length == 0)


class _Reader:
    def __init__(self, data):
        self._data = data
        self._at = 0

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self._data, self._at)
        self._at += struct.calcsize("<" + layout)
        return values

    def text(self):
        (size,) = self.take("I")
        begin, self._at = self._at, self._at + size
        return self._data[begin:self._at].decode(errors="surrogateescape")


def read(path):
    """Returns all operations in order; number N is at index N - 1."""
    data = path.read_bytes()
    reader = _Reader(data[len(MAGIC):])
    if not data.startswith(MAGIC) or reader.take("I") != (VERSION,):
        raise ValueError(f"{path}: expected operations of version {VERSION}")
    for _ in range(*reader.take("Q")):
        reader.text()
    reader.take("qQ")
    reader.take(f"{2 * reader.take('Q')[0]}Q")
    return [_operation(reader) for _ in range(*reader.take("Q"))]


def _operation(reader):
    kind, *_ = reader.take("3B3Qq3i")
    (file,) = reader.take("Q")
    reader.take("I")
    name = reader.text()
    reader.take("I")
    for _ in range(2):  # the new name, and the target of a link
        reader.text()
    _, length, *_ = reader.take("5Q2I2q")
    return Operation(kind, file, name, length)
