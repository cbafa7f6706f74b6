"""Job of the PyTorch trainers: a small regression. Results depend only on batch
and step, so that a checkpoint needs only the model and the optimizer."""

import safetensors.torch
import torch
from torch import nn

STEPS = 6
SAVE_EVERY = 2
BATCH = 8
FEATURES = 16


def new_model():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, 1))


def new_optimizer(model):
    return torch.optim.AdamW(model.parameters(), lr=0.01)


def samples(count):
    generator = torch.Generator().manual_seed(2)
    features = torch.rand(count, FEATURES, generator=generator)
    return features, features.sum(1, keepdim=True)


def train_step(model, optimizer, step, rank=0, ranks=1):
    features, targets = samples(STEPS * BATCH * ranks)
    begin = (step * ranks + rank) * BATCH
    rows = slice(begin, begin + BATCH)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(features[rows]), targets[rows]).backward()
    optimizer.step()


def write_result(model, out):
    safetensors.torch.save_file(model.state_dict(), out / "final.safetensors")
