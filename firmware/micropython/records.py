"""Records of one size in the files of a Pico's ledger, each with its checksum."""

import binascii
import os
import struct

RECORD = 48


def packed(form, *values):
    """Return a record of these values; `form` is that of its first 44 bytes."""
    row = struct.pack(form, *values)
    return row + struct.pack("<I", binascii.crc32(row))


def unpacked(form, row):
    """Return a record's values, or None for what is torn or none."""
    if len(row) != RECORD or struct.unpack("<I", row[-4:])[0] != binascii.crc32(row[:-4]):
        return None
    return struct.unpack(form, row[:-4])


def written(file, rows):
    """Return once rows are in flash."""
    file.write(rows)
    file.flush()
    if hasattr(os, "fsync"):
        os.fsync(file.fileno())
    elif hasattr(os, "sync"):
        os.sync()


def first_of(name, ending):
    """Return the number of a file's first record by its name; None for a file of another kind."""
    if len(name) != 10 + len(ending) or not name.endswith(ending):
        return None
    digits = name[:10]
    return int(digits) if all([c in "0123456789" for c in digits]) else None
