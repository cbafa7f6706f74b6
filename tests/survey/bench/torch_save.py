"""PyTorch: torch.save to a temporary file, and a rename."""

import itertools
import os

import torch
from torch import nn

import measured_run


def tensors_of(value, name=""):
    if isinstance(value, torch.Tensor):
        yield name, value.numpy()
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from tensors_of(part, f"{name}/{key}")


def main():
    args = measured_run.parse()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    layers = []
    for inputs, outputs in itertools.pairwise(measured_run.WIDTHS):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    checkpoint = args.out / "checkpoint.pt"
    for step in range(1, measured_run.STEPS + 1):
        rows = torch.randn(args.batch, measured_run.WIDTHS[0])
        optimizer.zero_grad()
        nn.functional.mse_loss(model(rows), rows).backward()
        optimizer.step()
        if step % measured_run.EVERY == 0:
            temporary = f"{checkpoint}.tmp"
            torch.save({"step": step, "model": model.state_dict(),
                        "optimizer": optimizer.state_dict()}, temporary)
            os.replace(temporary, checkpoint)
        measured_run.print_end(step)
    loaded = torch.load(checkpoint, weights_only=True)
    measured_run.write_digests(args.out, dict(tensors_of(loaded)))


if __name__ == "__main__":
    main()
