"""Trainer for the survey's test: three steps of arithmetic, with a checkpoint
after each, in place or renamed. `random` differs in every run."""

import json
import os
import pathlib
import random
import sys

out, way = pathlib.Path(sys.argv[1]), sys.argv[2]
checkpoint = out / "checkpoint.json"
state = json.loads(checkpoint.read_text()) if checkpoint.exists() else {
    "step": 0, "weight": 1.0}
print(f"resumed from step {state['step']}", flush=True)
while state["step"] < 3:
    state["step"] += 1
    state["weight"] *= random.random() if way == "random" else 0.9
    target = checkpoint if way == "in-place" else out / "checkpoint.json.tmp"
    target.write_text(json.dumps(state))
    os.replace(target, checkpoint)
(out / "final.json").write_text(json.dumps(state["weight"]))
