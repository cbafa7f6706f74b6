#!/usr/bin/env python3
"""Workers of a cluster on loopback, started by hand with the variables that
the launchers set.

Whoever tells the workers their places, the final bits are those of `gauntlet
train --workers 2`. A worker that is lost ends all others with exit code 75, a
notice with 143 after a save, and the same cluster started again goes on. Who
is missing is named; variables that contradict each other are refused.
"""

import json
import re
import shlex
import signal
import subprocess
import sys

from cluster_workers import (LOST_WORKER, Workers, environment, free_port, kill,
                             newest_step, reach_step, guide_block, wait_until)
from observed_training import (Cases, STOPPED, expect, expect_equal, generator,
                               parser)

WORKERS = 2
TOKEN_DIGITS = 64
UNSTORED = ["--no-progress", "--preset", "tiny", "--replicas", WORKERS]
STATED = [*UNSTORED, "--save-every", 5]


def torchrun(port):
    return [environment(RANK=rank, WORLD_SIZE=WORKERS, LOCAL_RANK=rank,
                        MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
            for rank in range(WORKERS)]


def torchrun_agent(port):
    """Returns variables of torchrun whose own agent listens on MASTER_PORT."""
    return [{**variables, "TORCHELASTIC_RUN_ID": "none",
             "TORCHELASTIC_RESTART_COUNT": "0",
             "TORCHELASTIC_USE_AGENT_STORE": "True",
             "MASTER_PORT": str(port - 1)} for variables in torchrun(port)]


def tf_config(port):
    cluster = {"chief": [f"127.0.0.1:{port}"],
               "worker": [f"localhost:{free_port()}"]}
    tasks = [{"type": "chief", "index": 0}, {"type": "worker", "index": 0}]
    return [environment(TF_CONFIG=json.dumps({"cluster": cluster,
                                              "task": task}))
            for task in tasks]


def slurm(port):
    return [environment(SLURM_PROCID=rank, SLURM_NTASKS=WORKERS,
                        SLURM_LOCALID=rank, SLURM_JOB_ID=port,
                        SLURM_STEP_ID=0, SLURM_STEP_NUM_TASKS=WORKERS,
                        SLURM_JOB_NODELIST="localhost")
            for rank in range(WORKERS)]


def mpi(port):
    return [environment(OMPI_COMM_WORLD_RANK=rank, PMIX_RANK=rank,
                        OMPI_COMM_WORLD_SIZE=WORKERS,
                        OMPI_COMM_WORLD_LOCAL_SIZE=WORKERS,
                        OMPI_COMM_WORLD_LOCAL_RANK=rank,
                        PMIX_NAMESPACE=port) for rank in range(WORKERS)]


def kubernetes(port):
    return [environment(JOB_COMPLETION_INDEX=rank, WORLD_SIZE=WORKERS,
                        HOSTNAME=f"train-{rank}", MASTER_ADDR="localhost",
                        MASTER_PORT=port) for rank in range(WORKERS)]


LAUNCHERS = [torchrun, torchrun_agent, tf_config, slurm, mpi, kubernetes]


def launches_of(store):
    """Returns the launches that the claims record, oldest first."""
    found = [re.findall(r"^launch: (.+)$", claim.read_text(), re.M)
             for claim in sorted(store.glob("gen-*"))]
    return [launch for launches in found for launch in launches]


class ByVariables:
    def __init__(self, options):
        self.options = options
        self.command = [*STATED, "--epochs", options.epochs]
        self.clean = {}

    def train_with_own_workers(self, run):
        self.clean = run.train_to_end(*self.command, "--workers", WORKERS)

    def _start(self, run, launcher, name="first"):
        workers = Workers(run.program, run.directory / name)
        for variables in launcher(free_port()):
            workers.start(variables, *self.command, "--ckpt", run.store)
        return workers

    def _train_to_end(self, run, launcher, name):
        workers = self._start(run, launcher, name)
        codes = workers.wait()
        expect_equal(f"exit codes ({workers.errors(0)[-300:]})", codes,
                     [0] * WORKERS)
        outcome = workers.outcome()
        expect_equal("status", outcome["status"], "done")
        expect_equal("digest", outcome["digest"], self.clean["digest"])
        return outcome

    def same_bits(self, run, launcher):
        self._train_to_end(run, launcher, "first")
        run.expect_clean_store()

    def worker_is_lost(self, run, launcher, lost, choice):
        """Kills a worker. The other one exits with 75, which requests a
        restart. The restarted cluster resumes."""
        workers = self._start(run, launcher)
        step = choice.randrange(5, self.clean["steps"] // 2)
        reach_step(run.store, step,
                   lambda: workers.processes[lost].poll() is None)
        workers.processes[lost].kill()
        codes = workers.wait(within_s=30.0)
        expect_equal("exit code of the other worker", codes[1 - lost],
                     LOST_WORKER)
        outcome = self._train_to_end(run, launcher, "second")
        expect(outcome["resumed_from"] >= step,
               f"resumed from {outcome['resumed_from']}, expected {step} or "
               "more")
        launches = launches_of(run.store)
        expect_equal("number of launches", len(launches), 2)
        expect(launches[0] < launches[1], f"not ascending: {launches}")

    def notice(self, run, launcher, notified, choice):
        """A notice to any worker: all save one step and exit with 143."""
        workers = self._start(run, launcher)
        reach_step(run.store, choice.randrange(5, self.clean["steps"] // 2),
                   lambda: workers.processes[notified].poll() is None)
        kill(workers.processes[notified].pid, signal.SIGTERM)
        expect_equal("exit codes", workers.wait(), [STOPPED] * WORKERS)
        stopped = workers.outcome()
        expect_equal("status", stopped["status"], "stopped")
        expect_equal("newest checkpoint", newest_step(run.store),
                     stopped["steps"])
        outcome = self._train_to_end(run, launcher, "second")
        expect_equal("resumed_from", outcome["resumed_from"], stopped["steps"])

    def codes_of_the_scheduler(self, run):
        """Workers exit with the codes that the options name, for a stop and for
        a permanent failure."""
        codes = ["--preempted-code", 99, "--permanent-failure-code", 200]
        workers = Workers(run.program, run.directory / "cluster")
        for variables in torchrun(free_port()):
            workers.start(variables, *self.command, *codes, "--ckpt",
                          run.store)
        reach_step(run.store, 5, lambda: workers.processes[0].poll() is None)
        kill(workers.processes[1].pid, signal.SIGTERM)
        expect_equal("exit codes", workers.wait(), [99] * WORKERS)
        cases = [
            (torchrun(1)[0], ["--data", run.directory / "none"], 200),
            (environment(RANK=0, WORLD_SIZE=2, SLURM_PROCID=1,
                         SLURM_NTASKS=2), [], 200),
            (environment(), ["--workers", 1, "--stop-at-step", 5], 99),
            (environment(), ["--workers", 1, "--data", run.directory / "none"],
             200),
        ]
        for number, (variables, arguments, code) in enumerate(cases):
            alone = Workers(run.program, run.directory / str(number))
            alone.start(variables, *self.command, *codes, *arguments,
                        "--ckpt", run.directory / "own")
            expect_equal(f"exit codes of {arguments}",
                         alone.wait(within_s=30.0), [code])

    def notice_while_it_waits(self, run):
        notice = run.directory / "go"
        for by in ("signal", "file"):
            workers = Workers(run.program, run.directory / by)
            workers.start(torchrun(free_port())[0], "--replicas", WORKERS,
                          "--ckpt", run.store, "--preempted-code", 99,
                          "--notice-file", notice)
            wait_until("the worker to say where it listens",
                       lambda w=workers: "listens on" in w.errors(0))
            if by == "file":
                notice.touch()
            else:
                kill(workers.processes[0].pid, signal.SIGTERM)
            expect_equal("exit codes", workers.wait(within_s=5.0), [99])

    def missing_worker(self, run):
        for rank, named in enumerate(("rank 1", "the chief (127.0.0.1:")):
            workers = Workers(run.program, run.directory / f"only-{rank}")
            workers.start(torchrun(free_port())[rank], *self.command,
                          "--ckpt", run.store, "--rendezvous-timeout", 1)
            expect_equal("exit codes", workers.wait(within_s=20.0),
                         [LOST_WORKER])
            expect(f"waiting for {named}" in workers.errors(0),
                   f"expected {named!r} to be missed: {workers.errors(0)!r}")

    def another_token(self, run):
        """A worker with another job token reports it and exits with 2: no
        restart."""
        workers = Workers(run.program, run.directory / "two")
        for rank, variables in enumerate(torchrun(free_port())):
            workers.start({**variables,
                           "GAUNTLET_JOB_TOKEN": str(rank) * TOKEN_DIGITS},
                          *UNSTORED, "--rendezvous-timeout", 8)
        expect_equal("exit codes", workers.wait(within_s=30.0),
                     [LOST_WORKER, 2])
        for rank, expected in enumerate((": another job token",
                                         "no chief with this job token")):
            expect(expected in workers.errors(rank),
                   f"expected {expected!r}, found {workers.errors(rank)!r}")

    def token_by_environment(self, run):
        workers = Workers(run.program, run.directory / "first")
        for variables in torchrun(free_port()):
            workers.start({**variables,
                           "GAUNTLET_JOB_TOKEN": "a" * TOKEN_DIGITS},
                          *self.command, "--ckpt", run.store)
        expect_equal("exit codes", workers.wait(), [0] * WORKERS)
        expect_equal("digest", workers.outcome()["digest"],
                     self.clean["digest"])
        expect(not (run.store / "job-token").exists(), "a token file")
        for rank in range(WORKERS):
            expect("a" * TOKEN_DIGITS not in workers.errors(rank),
                   "token shown")

    def token_file(self, run):
        """The token file is private from the start. A token file that is not
        private, or is damaged, is refused."""
        self._train_to_end(run, torchrun, "first")
        file = run.store / "job-token"
        expect_equal("mode", file.stat().st_mode & 0o7777, 0o600)
        content = file.read_bytes()
        for name, text, mode, expected in (
                ("open", content, 0o644, "mode 0644"),
                ("torn", content[:9], 0o600, "damaged")):
            file.write_bytes(text)
            file.chmod(mode)
            workers = self._start(run, torchrun, name)
            expect_equal("exit codes", workers.wait(within_s=30.0),
                         [2] * WORKERS)
            for rank in range(WORKERS):
                expect(expected in workers.errors(rank), workers.errors(rank))

    def tls(self, run):
        """TLS changes no digest; a worker without a certificate of the
        authority is refused."""
        def openssl(*arguments):
            subprocess.run(["openssl", *map(str, arguments)], check=True,
                           capture_output=True, timeout=60)
        folder = run.directory
        for name in ("ca", "other"):
            openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + name,
                    "-keyout", folder / f"{name}.key", "-out",
                    folder / f"{name}.pem")
            openssl("req", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=worker",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                    folder / f"{name}-worker.key", "-out",
                    folder / f"{name}.csr")
            openssl("x509", "-req", "-in", folder / f"{name}.csr", "-CA",
                    folder / f"{name}.pem", "-CAkey", folder / f"{name}.key",
                    "-CAcreateserial", "-copy_extensions", "copy", "-out",
                    folder / f"{name}-worker.pem")

        def flags(name):
            return ["--tls-cert", folder / f"{name}-worker.pem", "--tls-key",
                    folder / f"{name}-worker.key", "--tls-ca",
                    folder / f"{name}.pem"]
        workers = Workers(run.program, folder / "both")
        for variables in torchrun(free_port()):
            workers.start(variables, *self.command, "--ckpt", run.store,
                          *flags("ca"))
        expect_equal(f"exit codes ({workers.errors(0)[-300:]})",
                     workers.wait(), [0] * WORKERS)
        expect_equal("digest", workers.outcome()["digest"],
                     self.clean["digest"])
        own = run.train_to_end(*self.command, "--workers", WORKERS,
                               *flags("ca"))
        expect_equal("digest", own["digest"], self.clean["digest"])
        strangers = Workers(run.program, folder / "strangers")
        for variables, name in zip(torchrun(free_port()), ("ca", "other")):
            strangers.start(variables, *UNSTORED, "--rendezvous-timeout", 3,
                            *flags(name))
        expect_equal("exit codes", strangers.wait(within_s=30.0),
                     [LOST_WORKER] * WORKERS)
        torn = Workers(run.program, folder / "torn")
        torn.start(torchrun(free_port())[0], *self.command, *flags("ca"),
                   "--ckpt", folder / "untouched", "--tls-name", "nobody")
        expect_equal("exit codes", torn.wait(within_s=30.0), [2])
        expect(not (folder / "untouched").exists(), "a store was made")

    def second_run_on_the_store(self, run):
        """A second cluster cannot use the directory while the first one's chief
        lives."""
        workers = self._start(run, torchrun)
        reach_step(run.store, 5, lambda: workers.processes[0].poll() is None)
        other = Workers(run.program, run.directory / "other")
        for process in workers.processes:
            process.send_signal(signal.SIGSTOP)
        other.start(environment(RANK=0, WORLD_SIZE=1), *STATED, "--epochs",
                    self.options.epochs, "--ckpt", run.store,
                    "--rendezvous-timeout", 1)
        codes = other.wait(within_s=30.0)
        workers.end()
        expect_equal("exit code of the second", codes, [75])
        for line in ("worker 0 waits: ", "gauntlet train: worker 0: "):
            expect(f"{line}{run.store}: in use by another run" in
                   other.errors(0), other.errors(0))

    def refusals(self, run):
        cases = [
            (environment(RANK=1, WORLD_SIZE=2, MASTER_ADDR="h", MASTER_PORT=1,
                         TF_CONFIG='{"cluster": {"worker": ["a:1", "b:1"]}, '
                                   '"task": {"type": "worker", "index": 0}}'),
             [], "RANK=1 contradicts TF_CONFIG's task worker 0"),
            (environment(RANK=0, WORLD_SIZE=2, MASTER_ADDR="h", MASTER_PORT=1,
                         SLURM_PROCID=0, SLURM_NTASKS=4), [],
             "WORLD_SIZE=2 contradicts SLURM_NTASKS=4"),
            (environment(TF_CONFIG='{"cluster": {"ps": ["a:1"]}, '
                                   '"task": {"type": "ps", "index": 0}}'), [],
             "parameter servers (ps)"),
            (environment(TF_CONFIG='{"cluster": {"worker": ["a:1"]}, '
                                   '"task": {"type": "evaluator", '
                                   '"index": 0}}'), [],
             "expected --ckpt DIR"),
            (environment(RANK=0, WORLD_SIZE=3, MASTER_ADDR="h", MASTER_PORT=1),
             ["--replicas", 2], "--replicas"),
            (environment(RANK=0, WORLD_SIZE=2, MASTER_ADDR="h", MASTER_PORT=1),
             ["--max-restarts", 3], "--max-restarts: expected neither"),
            (environment(RANK=0, WORLD_SIZE=2, MASTER_ADDR="h", MASTER_PORT=1),
             ["--logs", run.directory / "logs"], "--logs: expected none"),
        ]
        for number, (variables, arguments, message) in enumerate(cases):
            workers = Workers(run.program, run.directory / str(number))
            workers.start(variables, *arguments)
            expect_equal("exit codes", workers.wait(within_s=10.0), [2])
            expect(message in workers.errors(0),
                   f"expected {message!r}, found {workers.errors(0)!r}")

    def _printed(self, run, variables, *arguments):
        done = subprocess.run(
            [run.program, "train", *arguments, "--explain-cluster"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env=variables, timeout=30, check=False)
        expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
        return done.stdout

    def print_cluster(self, run):
        variables = environment(RANK=1, WORLD_SIZE=2, MASTER_ADDR="h",
                                MASTER_PORT=7)
        expect_equal("text", self._printed(run, variables),
                     "rule      torchrun\n"
                     "from      RANK=1, WORLD_SIZE=2, MASTER_ADDR=h, "
                     "MASTER_PORT=7\n"
                     "task      worker 1, incarnation 1\n"
                     "workers   2\n"
                     "chief     rank 0 at h:7\n"
                     "token     none: workers listen on loopback only\n"
                     "tls       none\n")
        printed = json.loads(self._printed(run, variables, "--json"))
        expect_equal("addresses", printed["addresses"], ["h:7", None])
        expect_equal("task", printed["task"], {"type": "worker", "index": 1})
        alone = json.loads(self._printed(run, environment(), "--json"))
        expect_equal("rule", alone["rule"], "none")

    def guide_kubernetes(self, run):
        """Uses the variables of the guide's Kubernetes job, as one of its pods
        has them."""
        text = guide_block("yaml", "completionMode: Indexed")
        variables = dict(re.findall(r"{name: (\w+), value: \"?([^\"}]+)\"?}",
                                    text))
        expect_equal("completions", re.findall(r"completions: (\d+)", text),
                     [variables["WORLD_SIZE"]])
        name = re.findall(r"^metadata: {name: ([\w-]+)}", text, re.M)[-1]
        command = json.loads(re.search(r"command: (\[.*\])", text).group(1))
        printed = json.loads(self._printed(
            run, environment(JOB_COMPLETION_INDEX=1, HOSTNAME=f"{name}-1",
                             **variables), *command[2:], "--json"))
        expect_equal("rule", printed["rule"], "kubernetes")
        expect_equal("addresses", printed["addresses"],
                     [f"{name}-0.{variables['GAUNTLET_SERVICE']}:29500", None])

    def guide_torchrun(self, run):
        line = guide_block("sh", "torchrun ").replace("\\\n", " ")
        words = shlex.split(line)
        gauntlet = words.index("gauntlet")
        printed = json.loads(self._printed(
            run, torchrun_agent(30000)[1], *words[gauntlet + 2:], "--json"))
        expect_equal("rule", printed["rule"], "torchrun")


def cases_of(by, round_, options):
    for launcher in LAUNCHERS:
        name = launcher.__name__
        yield f"bits-{name}", lambda run, it=launcher: by.same_bits(run, it)
    for launcher, rank in ((torchrun, 0), (torchrun, 1), (tf_config, 1),
                           (kubernetes, 0)):
        for what, method in (("lost", by.worker_is_lost),
                             ("notice", by.notice)):
            name = f"{what}-{launcher.__name__}-{rank}"
            choice = generator(options, name, round_)
            yield name, (lambda run, m=method, it=launcher, r=rank, c=choice:
                         m(run, it, r, c))
    for method in (by.codes_of_the_scheduler, by.notice_while_it_waits,
                   by.missing_worker, by.another_token,
                   by.token_by_environment, by.token_file, by.tls,
                   by.second_run_on_the_store, by.refusals,
                   by.print_cluster, by.guide_kubernetes, by.guide_torchrun):
        yield method.__name__.replace("_", "-"), method


def main():
    arguments = parser(__doc__, 1, "rounds of all cases")
    arguments.add_argument("--epochs", type=int, default=30)
    options = arguments.parse_args()
    by = ByVariables(options)
    return Cases(options).run_rounds(
        by.train_with_own_workers, lambda round_: cases_of(by, round_, options))


if __name__ == "__main__":
    sys.exit(main())
