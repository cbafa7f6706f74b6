"""Two ranks under torchrun. Each writes its part of the one checkpoint to a
temporary file and renames it; then rank 0 writes the completion marker in
place. That is a mistake: a crash within the write leaves an empty marker."""

import json
import os
import pathlib
import sys

import torch
import torch.distributed as distributed

STEPS = 2
SAVE_AFTER = 1


def train(out):
    distributed.init_process_group("gloo")
    rank = distributed.get_rank()
    part, mark = out / f"part-{rank}", out / "complete"
    weights, done = torch.zeros(4), 0
    if mark.exists():
        done = json.loads(mark.read_text())["step"]
        weights = torch.frombuffer(bytearray(part.read_bytes()),
                                   dtype=torch.float32).clone()
    distributed.barrier()  # all ranks have loaded before one saves
    for step in range(done, STEPS):
        gradient = torch.full((4,), float(step + rank + 1))
        distributed.all_reduce(gradient)
        weights += gradient
        if step + 1 == SAVE_AFTER:
            temporary = out / f"part-{rank}.tmp"
            temporary.write_bytes(weights.numpy().tobytes())
            os.replace(temporary, part)
            distributed.barrier()
            if rank == 0:
                mark.write_text(json.dumps({"step": step + 1}))
            distributed.barrier()
    if rank == 0:
        (out / "final.bin").write_bytes(weights.numpy().tobytes())
    distributed.destroy_process_group()


if __name__ == "__main__":
    train(pathlib.Path(sys.argv[1]))
