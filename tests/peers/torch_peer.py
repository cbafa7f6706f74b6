"""PyTorch: eager training with the fused optimizers, torch.save, safetensors and
torch.distributed.checkpoint (DCP)."""

import os
import sys
import tempfile

import safetensors.torch
import torch
import torch.distributed
import torch.distributed.checkpoint as dcp
from torch import nn

import jobs
from durable_files import rename_synced
from peer_server import serve


def build_model(job):
    layers = []
    width = jobs.FEATURES
    if job["filters"]:
        layers += [nn.Unflatten(1, (1, 28, 28)), nn.Conv2d(1, job["filters"], 3),
                   nn.ReLU(), nn.Flatten()]
        width = job["filters"] * 26 * 26
    for units in job["hidden"]:
        layers += [nn.Linear(width, units), nn.ReLU()]
        if job["dropout"]:
            layers.append(nn.Dropout(job["dropout"]))
        width = units
    return nn.Sequential(*layers, nn.Linear(width, jobs.CLASSES))


def build_optimizer(job, model):
    rule = torch.optim.Adam if job["optimizer"] == "adam" else torch.optim.SGD
    return rule(model.parameters(), lr=jobs.LEARNING_RATE, fused=True)


class TorchPeer:
    def __init__(self, threads):
        torch.set_num_threads(threads)
        torch.manual_seed(1)
        # DCP's asynchronous saves need a process group.
        store = os.path.join(tempfile.mkdtemp(prefix="gauntlet-peer-"), "store")
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{store}", rank=0, world_size=1)
        self._features = torch.rand(jobs.ROWS, jobs.FEATURES)
        self._labels = torch.randint(0, jobs.CLASSES, (jobs.ROWS,))
        self._loss = nn.CrossEntropyLoss()
        self._saving = None

    def versions(self):
        return {"torch": torch.__version__,
                "safetensors": safetensors.__version__}

    def build(self, job):
        self._job = job
        self._model = build_model(job)
        self._optimizer = build_optimizer(job, self._model)
        self._order = torch.randperm(jobs.ROWS)
        self._at = 0
        self._loss_sum = torch.zeros(())

    def step(self):
        batch = self._job["batch"]
        rows = self._order[self._at:self._at + batch]
        self._at = (self._at + batch) % (jobs.ROWS // batch * batch)
        self._optimizer.zero_grad(set_to_none=True)
        loss = self._loss(self._model(self._features[rows]), self._labels[rows])
        loss.backward()
        self._optimizer.step()
        self._loss_sum += loss.detach()

    def _state(self):
        return {"model": self._model.state_dict(),
                "optimizer": self._optimizer.state_dict()}

    def _tensors(self):
        """Returns all tensors of the state by name, as safetensors needs
        them."""
        tensors = dict(self._model.state_dict())
        for index, slots in self._optimizer.state_dict()["state"].items():
            for name, tensor in slots.items():
                tensors[f"optimizer.{index}.{name}"] = tensor
        return tensors

    def save(self, mode, path):
        temporary = f"{path}.tmp"
        if mode == "torch.save":
            os.mkdir(temporary)
            torch.save(self._state(), f"{temporary}/state.pt")
            rename_synced(temporary, path)
        elif mode == "safetensors":
            os.mkdir(temporary)
            safetensors.torch.save_file(self._tensors(),
                                        f"{temporary}/state.safetensors")
            rename_synced(temporary, path)
        elif mode == "DCP":
            dcp.save(self._state(), storage_writer=self._writer(path))
        elif mode == "DCP async":
            self.finish()
            self._saving = dcp.async_save(self._state(),
                                          storage_writer=self._writer(path))
        else:
            raise ValueError(f"unknown mode {mode}")

    def _writer(self, path):
        return dcp.FileSystemWriter(path, sync_files=True)

    def finish(self):
        saving, self._saving = self._saving, None
        if saving is not None:
            saving.result()

    def restore(self, mode, path):
        if mode == "torch.save":
            state = torch.load(path / "state.pt", weights_only=True)
        elif mode == "safetensors":
            found = safetensors.torch.load_file(path / "state.safetensors")
            for name, tensor in self._tensors().items():
                tensor.copy_(found[name])
            return
        else:
            state = self._state()
            dcp.load(state, checkpoint_id=path)
        self._model.load_state_dict(state["model"])
        self._optimizer.load_state_dict(state["optimizer"])


if __name__ == "__main__":
    serve(TorchPeer(threads=int(sys.argv[1])))
