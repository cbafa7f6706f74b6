"""DistributedDataParallel on two ranks. Rank 0 saves by torch.save to a temporary
file, then renames it; the others wait."""

import os
import pathlib
import sys

import torch
import torch.distributed

import ranks
import torch_job as job


def train(out):
    ranks.join()
    rank, size = (torch.distributed.get_rank(),
                  torch.distributed.get_world_size())
    checkpoint = out / "checkpoint.pt"
    model = torch.nn.parallel.DistributedDataParallel(job.new_model())
    optimizer = job.new_optimizer(model)
    done = 0
    if checkpoint.exists():
        state = torch.load(checkpoint)
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        done = state["step"]
    torch.distributed.barrier()  # all ranks have loaded before one saves
    print(f"resumed from step {done}", flush=True)
    for step in range(done, job.STEPS):
        job.train_step(model, optimizer, step, rank, size)
        if (step + 1) % job.SAVE_EVERY == 0:
            if rank == 0:
                torch.save({"model": model.module.state_dict(),
                            "optimizer": optimizer.state_dict(),
                            "step": step + 1}, f"{checkpoint}.tmp")
                os.replace(f"{checkpoint}.tmp", checkpoint)
            torch.distributed.barrier()
    if rank == 0:
        job.write_result(model.module, out)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    ranks.run(lambda: train(pathlib.Path(sys.argv[1])), count=2,
              port=sys.argv[2])
