"""A trainer without a framework: JSON checkpoints under their own names, and a
resume from the newest."""

import argparse
import json
import pathlib

STEPS = 8
EVERY = 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    state = {"step": 0, "weight": 1.0}
    saved = [int(path.stem.split("-")[1]) for path in out.glob("checkpoint-*")]
    if saved:
        state = json.loads((out / f"checkpoint-{max(saved)}.json").read_text())
        print(f"resumed from step {state['step']}", flush=True)
    while state["step"] < STEPS:
        state["step"] += 1
        state["weight"] *= 0.9
        if state["step"] % EVERY == 0:
            with open(out / f"checkpoint-{state['step']}.json", "w") as file:
                json.dump(state, file)
    (out / "final.json").write_text(json.dumps(state))


if __name__ == "__main__":
    main()
