"""Accelerate: save_state and load_state with automatic names, which keep the
newest two folders and load the newest."""

import pathlib
import sys

import torch
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration

import torch_job as job


class Progress:
    step = 0

    def state_dict(self):
        return {"step": self.step}

    def load_state_dict(self, state):
        self.step = state["step"]


out = pathlib.Path(sys.argv[1])
accelerator = Accelerator(cpu=True, project_config=ProjectConfiguration(
    project_dir=str(out), automatic_checkpoint_naming=True, total_limit=2))
model = job.new_model()
loader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(*job.samples(job.STEPS * job.BATCH)),
    batch_size=job.BATCH)
model, optimizer, loader = accelerator.prepare(
    model, job.new_optimizer(model), loader)
progress = Progress()
accelerator.register_for_checkpointing(progress)
if list(out.glob("checkpoints/checkpoint_*")):
    accelerator.load_state()
    accelerator.project_configuration.iteration = (
        progress.step // job.SAVE_EVERY)
print(f"resumed from step {progress.step}", flush=True)
for features, targets in accelerator.skip_first_batches(loader, progress.step):
    optimizer.zero_grad()
    accelerator.backward(
        torch.nn.functional.mse_loss(model(features), targets))
    optimizer.step()
    progress.step += 1
    if progress.step % job.SAVE_EVERY == 0:
        accelerator.save_state()
job.write_result(accelerator.unwrap_model(model), out)
