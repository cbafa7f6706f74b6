"""torch.save to one file: over the old one (in-place), to a temporary file that
is renamed (rename), or to one that is synced before the rename (sync)."""

import os
import pathlib
import sys

import torch

import torch_job as job

out, way = pathlib.Path(sys.argv[1]), sys.argv[2]
checkpoint = out / "checkpoint.pt"


def save(state):
    if way == "in-place":
        torch.save(state, checkpoint)
        return
    temporary = out / "checkpoint.pt.tmp"
    with open(temporary, "wb") as file:
        torch.save(state, file)
        if way == "sync":
            file.flush()
            os.fsync(file.fileno())
    os.replace(temporary, checkpoint)
    if way == "sync":
        folder = os.open(out, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


model = job.new_model()
optimizer = job.new_optimizer(model)
done = 0
if checkpoint.exists():
    state = torch.load(checkpoint)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    done = state["step"]
print(f"resumed from step {done}", flush=True)
for step in range(done, job.STEPS):
    job.train_step(model, optimizer, step)
    if (step + 1) % job.SAVE_EVERY == 0:
        save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
              "step": step + 1})
job.write_result(model, out)
