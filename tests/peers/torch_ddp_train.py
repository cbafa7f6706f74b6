"""A worker of DistributedDataParallel over gloo, as torchrun starts it.

Resumes from the newest save, saves after each `--save-every` steps, and writes a
line of JSON for each event (started, began, step) to FOLDER/rank-N.jsonl, with
the monotonic clock's time in ns.
"""

import argparse
import json
import os
import time

import torch
import torch.distributed
from torch import nn

import jobs
from durable_files import rename_synced
from torch_peer import build_model, build_optimizer

STATE = "state.pt"


def _parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("job", type=json.loads)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--save-every", type=int, default=0)
    return parser.parse_args()


def _join():
    """Joins the process group. Uses a separate store for each round of
    restarts: in the default store, gloo in a new process would find the
    addresses of the old processes."""
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    store = torch.distributed.TCPStore(
        os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]),
        is_master=False)
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    torch.distributed.init_process_group(
        "gloo", store=torch.distributed.PrefixStore(attempt, store), rank=rank,
        world_size=size)


def main():
    args = _parse()
    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    # The file is closed only when the process ends, which may be killed at any
    # line.
    events = open(f"{args.folder}/rank-{rank}.jsonl", "a", buffering=1)

    def tell(kind, **more):
        line = {"kind": kind, "t_ns": time.monotonic_ns(), **more}
        events.write(json.dumps(line) + "\n")

    tell("started", pid=os.getpid())
    _join()
    torch.manual_seed(1)
    model = build_model(args.job)
    optimizer = build_optimizer(args.job, model)
    path = f"{args.folder}/{STATE}"
    done = 0
    if os.path.exists(path):
        state = torch.load(path, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        done = state["step"]
    tell("began", step=done)
    replica = nn.parallel.DistributedDataParallel(model)
    features = torch.rand(args.job["batch"], jobs.FEATURES)
    labels = torch.randint(0, jobs.CLASSES, (args.job["batch"],))
    loss_of = nn.CrossEntropyLoss()
    for step in range(done + 1, args.steps + 1):
        optimizer.zero_grad(set_to_none=True)
        loss_of(replica(features), labels).backward()
        optimizer.step()
        tell("step", step=step)
        if args.save_every and step % args.save_every == 0:
            if rank == 0:
                torch.save({"model": model.state_dict(), "step": step,
                            "optimizer": optimizer.state_dict()}, path + ".tmp")
                rename_synced(path + ".tmp", path)
            torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
