"""torch.distributed.checkpoint: a directory per checkpoint, with synchronous
(sync) or asynchronous saves (async). A directory counts once it has its
.metadata, which DCP writes last; torchtitan resumes by the same rule."""

import pathlib
import sys

import torch.distributed
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import (get_state_dict,
                                                     set_state_dict)

import ranks
import torch_job as job


def newest(out):
    """Returns the step of the newest checkpoint; 0 if there is none."""
    return max((int(path.parent.name.removeprefix("step-"))
                for path in out.glob("step-*/.metadata")), default=0)


def train(out, way):
    ranks.join()
    rank, size = (torch.distributed.get_rank(),
                  torch.distributed.get_world_size())
    model = job.new_model()
    if size > 1:
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = job.new_optimizer(model)

    def state():
        model_state, optimizer_state = get_state_dict(model, optimizer)
        return {"model": model_state, "optimizer": optimizer_state}

    done = newest(out)
    if done:
        loaded = state()
        dcp.load(loaded, checkpoint_id=out / f"step-{done}")
        set_state_dict(model, optimizer, model_state_dict=loaded["model"],
                       optim_state_dict=loaded["optimizer"])
    print(f"resumed from step {done}", flush=True)
    saving = None
    for step in range(done, job.STEPS):
        job.train_step(model, optimizer, step, rank, size)
        if (step + 1) % job.SAVE_EVERY == 0:
            folder = out / f"step-{step + 1}"
            if way == "async":
                if saving:
                    saving.result()
                saving = dcp.async_save(state(), checkpoint_id=folder)
            else:
                dcp.save(state(), checkpoint_id=folder)
    if saving:
        saving.result()
    if rank == 0:
        job.write_result(getattr(model, "module", model), out)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    ranks.run(lambda: train(pathlib.Path(sys.argv[1]), sys.argv[2]),
              count=int(sys.argv[3]), port=sys.argv[4])
