"""Hugging Face Trainer: a tiny GPT-2 with dropout, resumed from the newest
checkpoint-N as the library's examples do it."""

import sys

import torch
from transformers import (GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback,
                          TrainingArguments)
from transformers.trainer_utils import get_last_checkpoint

import ranks


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        tokens = torch.randint(0, 100, (16,), generator=generator)
        return {"input_ids": tokens, "labels": tokens.clone()}


class PrintStart(TrainerCallback):
    def on_train_begin(self, args, state, control, **more):
        print(f"resumed from step {state.global_step}", flush=True)


def train(out):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=100, n_positions=16, n_embd=32, n_layer=1, n_head=2,
        bos_token_id=0, eos_token_id=0))
    arguments = TrainingArguments(
        output_dir=out, max_steps=9, save_steps=3, save_total_limit=2,
        per_device_train_batch_size=4, seed=1, use_cpu=True, report_to=[],
        logging_steps=1000, disable_tqdm=True, ddp_timeout=60)
    trainer = Trainer(model=model, args=arguments, train_dataset=Texts(),
                      callbacks=[PrintStart()])
    trainer.train(resume_from_checkpoint=get_last_checkpoint(out))
    trainer.save_model(f"{out}/final")


if __name__ == "__main__":
    ranks.run(lambda: train(sys.argv[1]), count=int(sys.argv[2]),
              port=sys.argv[3])
