"""The loop of a peer's process: reads commands, prints answers, one per line.

A peer is an object with
  versions()            a dictionary
  build(job)            makes the job of jobs.py the current one
  step()                one training step, complete when it returns
  save(mode, path)      begins a save; complete when it returns, unless the mode
                        is one of a background save
  finish()              waits for the rest of a background save
  restore(mode, path)   loads that save into the current job
A peer that only multiplies matrices has versions() and
  product(shape, form, at_least)  the seconds of one product, averaged over at
                        least this many seconds; shape: [m, n, k]; form: NN, TN
                        (a is stored transposed) or NT (b is)
"""

import json
import os
import pathlib
import shutil
import sys
import time

WARM_UP_STEPS = 20
KEPT_CHECKPOINTS = 2


def _steps(peer, count):
    seconds = []
    for _ in range(count):
        begin = time.perf_counter()
        peer.step()
        seconds.append(time.perf_counter() - begin)
    return {"step_seconds": seconds}


def _train_and_save(peer, command):
    """Trains, with a save after each `every` steps; mode None: without
    saves."""
    folder = pathlib.Path(command["folder"])
    stalls = []
    begin = time.perf_counter()
    for step in range(1, command["steps"] + 1):
        peer.step()
        if command["mode"] and step % command["every"] == 0:
            stopped = time.perf_counter()
            peer.save(command["mode"], folder / f"save-{step}")
            stalls.append(time.perf_counter() - stopped)
            old = folder / f"save-{step - KEPT_CHECKPOINTS * command['every']}"
            shutil.rmtree(old, ignore_errors=True)
    # All steps are trained, so the end of a background save costs training no
    # time.
    seconds = time.perf_counter() - begin
    peer.finish()
    return {"seconds": seconds, "stall_seconds": stalls}


def _restore(peer, command):
    newest = max(pathlib.Path(command["folder"]).glob("save-*"),
                 key=lambda path: int(path.name.split("-")[1]))
    begin = time.perf_counter()
    peer.restore(command["mode"], newest)
    return {"seconds": time.perf_counter() - begin}


def _answer(peer, command):
    if command["do"] == "build":
        peer.build(command["job"])
        _steps(peer, WARM_UP_STEPS if command["job"]["hidden"][0] < 2000 else 3)
        return {}
    if command["do"] == "steps":
        return _steps(peer, command["count"])
    if command["do"] == "train":
        return _train_and_save(peer, command)
    if command["do"] == "restore":
        return _restore(peer, command)
    if command["do"] == "product":
        return {"seconds": peer.product(command["shape"], command["form"],
                                        command["at_least"])}
    raise ValueError(f"unknown command {command['do']}")


def serve(peer):
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries print, too
    print(json.dumps({"versions": peer.versions()}), file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer = _answer(peer, json.loads(line))
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": f"{type(error).__name__}: {error}"[:400]}
        print(json.dumps(answer), file=answers, flush=True)
