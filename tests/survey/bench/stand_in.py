"""Stands in for a framework in tests: a checkpoint of 1 MB."""

import os
import time

import measured_run


class Bytes(bytes):
    def tobytes(self):
        return self


def main():
    args = measured_run.parse()
    checkpoint = args.out / "checkpoint"
    for step in range(1, measured_run.STEPS + 1):
        time.sleep(0.001)
        if step % measured_run.EVERY == 0:
            checkpoint.write_bytes(bytes([step]) * 1_000_000)
        measured_run.print_end(step)
    measured_run.write_digests(
        args.out, {"state": Bytes(checkpoint.read_bytes()),
                   "difference": Bytes(str(os.getpid()).encode()
                                       if "DIFFERENCE" in os.environ
                                       else b"")})


if __name__ == "__main__":
    main()
