"""PyTorch as commonly written: torch.save of each checkpoint under its own
name, and a resume from the newest."""

import argparse
import os
import re

import torch
from torch import nn

STEPS = 8
EVERY = 2


def newest_checkpoint(out):
    steps = [int(match[1]) for name in os.listdir(out)
             if (match := re.fullmatch(r"checkpoint-(\d+)\.pt", name))]
    return os.path.join(out, f"checkpoint-{max(steps)}.pt") if steps else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    out = parser.parse_args().out
    os.makedirs(out, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
    optimizer = torch.optim.Adam(model.parameters())
    done = 0
    if path := newest_checkpoint(out):
        state = torch.load(path, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        done = state["step"]
        print(f"resumed from step {done}", flush=True)
    for step in range(done + 1, STEPS + 1):
        rows = torch.Generator().manual_seed(step)
        x = torch.randn(64, 32, generator=rows)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), x[:, :8]).backward()
        optimizer.step()
        if step % EVERY == 0:
            torch.save({"step": step, "model": model.state_dict(),
                        "optimizer": optimizer.state_dict()},
                       os.path.join(out, f"checkpoint-{step}.pt"))
    torch.save(model.state_dict(), os.path.join(out, "final.pt"))


if __name__ == "__main__":
    main()
