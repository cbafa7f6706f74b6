"""Makes a save durable: its files, its directories and its name.

DCP syncs its files, but no directory; Orbax chooses what it syncs.
"""

import os


def sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def rename_synced(temporary, path):
    """Renames a temporary file or directory to `path`, durably."""
    if os.path.isdir(temporary):
        for folder, _, files in os.walk(temporary):
            for name in files:
                sync(os.path.join(folder, name))
            sync(folder)
    else:
        sync(temporary)
    os.rename(temporary, path)
    sync(os.path.dirname(path))
