"""Whether two files have the same contents, which versions of zlib compress differently.

usage: same.py ONE OTHER
"""

import pathlib
import sys
import zlib


def contents(path):
    data = pathlib.Path(path).read_bytes()
    return zlib.decompress(data) if path.endswith(".z") else data


try:
    sys.exit(contents(sys.argv[1]) != contents(sys.argv[2]))
except (OSError, zlib.error) as error:
    sys.exit(f"error: {error}")
