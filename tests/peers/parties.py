"""The programs to compare: a peer as a server, runs of Gauntlet, and its kernels'
benchmark."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import typing

import jobs

HERE = pathlib.Path(__file__).resolve().parent
DEADLINE_S = 600
# Variables that change a worker's rank or the threads of a library.
_DROPPED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TF_CONFIG",
            "OPENBLAS_CORETYPE", "OMP_NUM_THREADS")


class PartyFailed(Exception):
    """A party failed; the text has its answer."""


def end_of(log):
    """Returns the last characters of a log."""
    return pathlib.Path(log).read_text(errors="replace").strip()[-400:]


def _environment():
    kept = {name: value for name, value in os.environ.items()
            if name not in _DROPPED}
    return {**kept, "CUDA_VISIBLE_DEVICES": ""}


def _on_processors(count):
    """Limits a new process to this many processors; 0: no limit."""
    processors = sorted(os.sched_getaffinity(0))[:count] if count else None

    def pin():
        if processors:
            os.sched_setaffinity(0, processors)

    return pin


class Peer:
    """A peer's server (peer_server.py), started with this many threads."""

    def __init__(self, name, script, threads, processors, logs):
        self.name = name
        self._log = pathlib.Path(logs) / f"{name}-{threads}.log"
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-B", str(HERE / script), str(threads)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                text=True, env=_environment(),
                preexec_fn=_on_processors(processors))
        self.versions = self._read()["versions"]

    def _read(self):
        timer = threading.Timer(DEADLINE_S, self._process.kill)
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        if not line:
            self.close()
            raise PartyFailed(f"{self.name} ended: {end_of(self._log)}")
        answer = json.loads(line)
        if "error" in answer:
            raise PartyFailed(f"{self.name}: {answer['error']}")
        return answer

    def ask(self, **command):
        if self._process.poll() is not None:
            raise PartyFailed(f"{self.name} has ended")
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self._read()

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def _worker_events(folder, worker):
    """Yields the events of a worker's processes, in the order of the
    processes."""
    files = sorted(folder.glob(f"worker-{worker}-incarnation-*.jsonl"),
                   key=lambda file: int(file.stem.rsplit("-", 1)[1]))
    for file in files:
        for line in file.read_text().splitlines():
            with contextlib.suppress(ValueError):  # an incomplete line
                yield json.loads(line)


def _step_times(events):
    return [event["t_ns"] for event in events if event["kind"] == "step"]


def _intervals(times):
    return [(end - begin) * 1e-9 for begin, end in zip(times, times[1:])]


class Gauntlet:
    """Runs `gauntlet train`, and reads its event files."""

    name = "Gauntlet"

    def __init__(self, program, folder):
        self._program = str(program)
        self._folder = pathlib.Path(folder) / "gauntlet"

    def versions(self):
        done = subprocess.run([self._program, "--version"], check=True,
                              capture_output=True, text=True)
        return {"gauntlet": done.stdout.split("\n")[0].removeprefix("gauntlet ")}

    def _start(self, job, *arguments, processors=0):
        """Starts in the folder of the last run, without its events."""
        self._folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self._events(), ignore_errors=True)
        file = self._folder / "job.yaml"
        file.write_text(json.dumps(jobs.gauntlet_job(job)))
        return subprocess.Popen(
            [self._program, "train", "--job", str(file), "--epochs", "100000",
             "--events", str(self._events()), "--no-progress", "--json",
             *map(str, arguments)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=_environment(), preexec_fn=_on_processors(processors))

    def _events(self):
        return self._folder / "events"

    def _checkpoints(self):
        return self._folder / "checkpoints"

    def forget(self):
        shutil.rmtree(self._folder, ignore_errors=True)

    @staticmethod
    def _finish(process):
        timer = threading.Timer(DEADLINE_S, process.kill)
        timer.start()
        with process.stderr:
            errors = process.stderr.read()
        code = process.wait()
        timer.cancel()
        if code != 0:
            raise PartyFailed(f"gauntlet train: {errors.strip()[-400:]}")

    def steps(self, job, count, *, threads=1, workers=1, replicas=1,
              processors=0):
        """Returns the seconds of each of the last `count` steps."""
        warm_up = 10
        self._finish(self._start(
            job, "--steps", count + warm_up + 1, "--threads", threads,
            "--workers", workers, "--replicas", replicas,
            processors=processors))
        return _intervals(_step_times(_worker_events(self._events(), 0)))[
            -count:]

    def train(self, job, mode, every, steps):
        """Like the command of peer_server.py. Returns the seconds that all
        steps take, and the seconds of each save's stall."""
        shutil.rmtree(self._checkpoints(), ignore_errors=True)
        saves = (["--ckpt", self._checkpoints(), "--ckpt-mode", mode,
                  "--save-every", every, "--keep-last", 2] if mode else [])
        self._finish(self._start(job, "--steps", steps, *saves))
        began, last, stalls, begun = 0, 0, [], False
        for event in _worker_events(self._events(), 0):
            if event["kind"] == "start_times":
                began = event["t_ns"]
            elif event["kind"] == "save_begin":
                begun = True  # no stall if no step follows
            elif event["kind"] == "step":
                last = event["t_ns"]
                if begun:
                    stalls.append(0.0)
                    begun = False
                # After a background save begins, several steps are slower.
                if stalls:
                    stalls[-1] += event["parts_ns"].get("save", 0) * 1e-9
        return {"seconds": (last - began) * 1e-9, "stall_seconds": stalls}

    def restore(self, job, steps):
        """Returns the seconds in which a new process verifies and loads the
        checkpoint."""
        self._finish(self._start(job, "--steps", steps + 1, "--ckpt",
                                 self._checkpoints()))
        for event in _worker_events(self._events(), 0):
            parts = event.get("parts_ns", {})
            if event["kind"] == "start_times" and "load" in parts:
                return {"seconds": (parts["claim"] + parts["load"]) * 1e-9}
        raise PartyFailed("gauntlet train loaded no checkpoint")

    def recover(self, job, workers, every, policy):
        """Returns the seconds from kill -9 of a worker to the first step after
        it, and the seconds of each step before it."""
        self.forget()
        process = self._start(
            job, "--steps", 4 * every, "--workers", workers, "--replicas",
            workers, "--ckpt", self._checkpoints(), "--save-every", every,
            "--restart", policy)
        victim = workers // 2
        killed = kill_after(
            process, lambda: len(_step_times(_worker_events(self._events(), 0))),
            every + every // 2,
            lambda: next(_worker_events(self._events(), victim))["pid"])
        self._finish(process)
        return recovery_of(_worker_events(self._events(), 0), "start_times",
                           killed)


class Product(typing.NamedTuple):
    """A matrix product that kernels_bench measures."""

    benchmark: str  # its name in kernels_bench
    shape: list  # m, n, k
    form: str  # NN, TN or NT: which operand is stored transposed
    isa: str

    @classmethod
    def of(cls, benchmark):
        """Parses a name such as wide/32x4096x4096/NT/avx512/manual_time."""
        _, shape, form, isa, _ = benchmark.split("/")
        return cls(benchmark, [int(size) for size in shape.split("x")], form,
                   isa)

    def __str__(self):
        return "x".join(map(str, self.shape)) + f" {self.form}"


class KernelsBench:
    """Runs the products of tests/bench/kernels_bench.cc on one processor."""

    def __init__(self, program):
        self._program = str(program)

    def _run(self, *arguments):
        try:
            done = subprocess.run([self._program, *arguments], check=False,
                                  capture_output=True, text=True,
                                  timeout=DEADLINE_S, env=_environment(),
                                  preexec_fn=_on_processors(1))
        except subprocess.TimeoutExpired as error:
            raise PartyFailed(f"kernels_bench: {error}") from error
        if done.returncode != 0:
            raise PartyFailed(f"kernels_bench, exit code {done.returncode}: "
                              f"{done.stderr.strip()[-400:]}")
        return done.stdout

    def products(self):
        """Returns the products for the machine's best instruction set, which
        kernels_bench lists first."""
        names = self._run("--benchmark_list_tests",
                          "--benchmark_filter=/(NN|TN|NT)/").split()
        products = [Product.of(name) for name in names]
        return [one for one in products if one.isa == products[0].isa]

    def seconds(self, product, at_least):
        """Returns the seconds of one product, averaged over at least this many
        seconds."""
        results = json.loads(self._run(
            f"--benchmark_filter=^{product.benchmark}$",
            f"--benchmark_min_time={at_least}", "--benchmark_format=json"))
        return results["benchmarks"][0]["us"] * 1e-6


class TorchRun:
    """torchrun with DistributedDataParallel over gloo (torch_ddp_train.py)."""

    def __init__(self, folder):
        self._folder = pathlib.Path(folder) / "torchrun"

    def _start(self, job, workers, steps, save_every=0):
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self._log = self._folder / "log"
        with self._log.open("w") as log:
            return subprocess.Popen(
                [sys.executable, "-B", "-m", "torch.distributed.run",
                 "--standalone", "--nproc-per-node", str(workers),
                 "--max-restarts", "3", str(HERE / "torch_ddp_train.py"),
                 str(self._folder), json.dumps(job), "--steps", str(steps),
                 "--save-every", str(save_every)],
                stdout=subprocess.DEVNULL, stderr=log, env=_environment())

    def _finish(self, process):
        timer = threading.Timer(DEADLINE_S, process.kill)
        timer.start()
        code = process.wait()
        timer.cancel()
        if code != 0:
            raise PartyFailed(f"torchrun: {end_of(self._log)}")

    def _events(self, rank):
        with contextlib.suppress(FileNotFoundError):
            text = (self._folder / f"rank-{rank}.jsonl").read_text()
            for line in text.splitlines():
                with contextlib.suppress(ValueError):
                    yield json.loads(line)

    def steps(self, job, count, *, workers):
        self._finish(self._start(job, workers, count + 11))
        return _intervals(_step_times(self._events(0)))[-count:]

    def recover(self, job, workers, every):
        process = self._start(job, workers, 4 * every, every)
        victim = workers // 2
        killed = kill_after(
            process, lambda: len(_step_times(self._events(0))),
            every + every // 2, lambda: next(self._events(victim))["pid"])
        self._finish(process)
        return recovery_of(self._events(0), "began", killed)


def recovery_of(events, start, killed):
    """Returns the time from the kill to the first step of the processes that
    started after it, and the times of the steps before it."""
    events = list(events)
    times = _step_times(events)
    starts = [event["t_ns"] for event in events
              if event["kind"] == start and event["t_ns"] > killed]
    after = [time for time in times if starts and time > min(starts)]
    if not after:
        raise PartyFailed("no step after the kill")
    return {"seconds": (min(after) - killed) * 1e-9,
            "step_seconds": _intervals([t for t in times if t < killed])}


def kill_after(process, steps_done, steps, pid_of_victim):
    """Kills the victim by SIGKILL once that many steps are done. Returns the
    monotonic time of the kill, in ns. Ends the run if it is too slow."""
    begin = time.monotonic()
    while steps_done() < steps:
        if process.poll() is not None:
            raise PartyFailed("the run ended before a worker was killed")
        if time.monotonic() - begin > DEADLINE_S:
            process.kill()
            raise PartyFailed(f"no step {steps} within {DEADLINE_S} s")
        time.sleep(0.005)
    pid = pid_of_victim()
    killed = time.monotonic_ns()
    os.kill(pid, signal.SIGKILL)
    return killed
