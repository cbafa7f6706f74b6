"""Lightning: ModelCheckpoint after each epoch with save_last, resumed by
fit(ckpt_path="last"). With `other-disk`, Lightning's temporary files are on
another file system than the checkpoints."""

import sys
import tempfile

import lightning
import torch
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from safetensors.torch import save_file

import torch_job as job

STEPS_PER_EPOCH = 2


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = job.new_model()

    def training_step(self, batch, _):
        features, targets = batch
        return torch.nn.functional.mse_loss(self.network(features), targets)

    def configure_optimizers(self):
        return job.new_optimizer(self)


class PrintStart(Callback):
    def on_load_checkpoint(self, trainer, module, checkpoint):
        print(f"resumed from step {checkpoint['global_step']}", flush=True)


out = sys.argv[1]
if sys.argv[2:] == ["other-disk"]:
    tempfile.tempdir = "/dev/shm"
lightning.seed_everything(1)
model = Regression()
loader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(*job.samples(STEPS_PER_EPOCH * job.BATCH)),
    batch_size=job.BATCH)
checkpoints = ModelCheckpoint(dirpath=f"{out}/checkpoints", filename="{step}",
                              save_top_k=-1, save_last=True)
trainer = lightning.Trainer(
    max_epochs=3, accelerator="cpu", logger=False, default_root_dir=out,
    callbacks=[PrintStart(), checkpoints], enable_progress_bar=False,
    enable_model_summary=False)
trainer.fit(model, loader, ckpt_path="last")
save_file(model.state_dict(), f"{out}/final.safetensors")
