"""The trainers of the survey, one per line of its table."""

import dataclasses

TRAINERS = "tests/survey/trainers"


@dataclasses.dataclass(frozen=True)
class Trainer:
    name: str
    # The survey fills in {python} and {program}; gauntlet crash-test fills in
    # {out} and {port}.
    command: tuple
    packages: tuple  # PyPI packages, the library under test first
    options: tuple  # options of gauntlet crash-test
    title: str  # name in the table


def _python(name, script, *arguments, packages, title, result, checkpoints):
    patterns = [word for pattern in checkpoints
                for word in ("--checkpoint", pattern)]
    return Trainer(
        name=name, title=title, packages=packages,
        command=("{python}", "-B", f"{TRAINERS}/{script}.py", "{out}",
                 *arguments),
        options=("--step-regex", r"resumed from step (\d+)",
                 "--result", result, *patterns))


def _torch(name, script, *arguments, title, checkpoints,
           result="final.safetensors", packages=("torch",)):
    return _python(name, script, *arguments, packages=packages, title=title,
                   result=result, checkpoints=checkpoints)


def _tensorflow(name, script, *arguments, title, packages, checkpoints):
    return _python(name, script, *arguments, packages=packages, title=title,
                   result="final.npz", checkpoints=checkpoints)


def _gauntlet(workers):
    return Trainer(
        name=f"gauntlet_{workers}_worker" + ("s" if workers > 1 else ""),
        title=f"Gauntlet's engine, {workers} "
              + ("workers" if workers > 1 else "worker"),
        packages=(),
        command=("{program}", "train", "--preset", "tiny", "--epochs", "4",
                 "--workers", str(workers), "--replicas", "2", "--ckpt",
                 "{out}/ckpt", "--export", "{out}/model", "--no-progress"),
        options=("--step-regex", r"resumed .*: step (\d+)",
                 "--result", "model/*", "--checkpoint", "ckpt/*"))


ALL = (
    _torch("torch_save_in_place", "torch_save", "in-place",
           title="`torch.save` over the old file",
           checkpoints=["checkpoint.pt"]),
    _torch("torch_save_rename", "torch_save", "rename",
           title="`torch.save` to a temporary file, renamed",
           checkpoints=["checkpoint.pt*"]),
    _torch("torch_save_sync", "torch_save", "sync",
           title="the same, with `fsync` of file and directory",
           checkpoints=["checkpoint.pt*"]),
    _torch("torch_ddp", "torch_ddp", "{port}",
           title="DDP, 2 ranks: rank 0 saves to a temporary file, renamed",
           checkpoints=["checkpoint.pt*"]),
    _torch("torch_dcp", "torch_dcp", "sync", "1", "{port}",
           title="PyTorch DCP, `save`", checkpoints=["step-*"]),
    _torch("torch_dcp_async", "torch_dcp", "async", "1", "{port}",
           title="PyTorch DCP, `async_save`", checkpoints=["step-*"]),
    _torch("torch_dcp_two_ranks", "torch_dcp", "sync", "2", "{port}",
           title="PyTorch DCP, `save`, 2 ranks", checkpoints=["step-*"]),
    _torch("transformers_trainer", "transformers_trainer", "1", "{port}",
           title="Hugging Face Trainer", packages=("transformers", "torch"),
           result="final/model.safetensors", checkpoints=["checkpoint-*"]),
    _torch("transformers_trainer_two_ranks", "transformers_trainer", "2",
           "{port}", title="Hugging Face Trainer, 2 ranks",
           packages=("transformers", "torch"),
           result="final/model.safetensors", checkpoints=["checkpoint-*"]),
    _torch("accelerate_save_state", "accelerate_save_state",
           title="Accelerate, `save_state`", packages=("accelerate", "torch"),
           checkpoints=["checkpoints/*"]),
    _torch("lightning_model_checkpoint", "lightning_model_checkpoint", "other-disk",
           title="Lightning, `save_last`, TMPDIR on another disk",
           packages=("lightning", "torch"), checkpoints=["checkpoints/*"]),
    _torch("lightning_same_disk", "lightning_model_checkpoint",
           title="Lightning, `save_last`, TMPDIR on the same disk",
           packages=("lightning", "torch"), checkpoints=["checkpoints/*"]),
    _tensorflow("keras_backup_and_restore", "keras_backup_and_restore",
                title="Keras, `BackupAndRestore`",
                packages=("keras", "tensorflow-cpu"),
                checkpoints=["backup/*"]),
    _tensorflow("keras_double_checkpoint", "keras_backup_and_restore", "double",
                title="Keras, `BackupAndRestore(double_checkpoint=True)`",
                packages=("keras", "tensorflow-cpu"),
                checkpoints=["backup/*"]),
    _tensorflow("keras_model_checkpoint", "keras_model_checkpoint",
                title="Keras, `ModelCheckpoint` of one file",
                packages=("keras", "tensorflow-cpu"),
                checkpoints=["checkpoint.model.keras"]),
    _tensorflow("tf_checkpoint_manager", "tf_checkpoint_manager",
                title="TensorFlow, `CheckpointManager`",
                packages=("tensorflow-cpu",), checkpoints=["checkpoints/*"]),
    _tensorflow("orbax_checkpoint_manager", "orbax_checkpoint_manager", "sync",
                title="Orbax, `CheckpointManager`",
                packages=("orbax-checkpoint", "jax"),
                checkpoints=["checkpoints/*"]),
    _tensorflow("orbax_async", "orbax_checkpoint_manager", "async",
                title="Orbax, `CheckpointManager`, asynchronous",
                packages=("orbax-checkpoint", "jax"),
                checkpoints=["checkpoints/*"]),
    _gauntlet(workers=1),
    _gauntlet(workers=2),
)
