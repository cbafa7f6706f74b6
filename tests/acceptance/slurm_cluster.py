"""A Slurm cluster on one machine, in its own directory, while it is used.

Its daemons are started and ended by process id; nothing outside the directory
is read or written, and no other Slurm on the machine is contacted.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import time

from observed_training import Failed

_SETTINGS = """\
ClusterName=gauntlet
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
# A job that is started again waits for its old credential to expire.
AuthInfo=socket={here}/munge.sock,cred_expire=5
CredType=cred/munge
# A batch script that ends with it is started again by Slurm itself.
RequeueExit={requeue}
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool
SlurmctldPidFile={here}/slurmctld.pid
SlurmdPidFile={here}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
ReturnToService=2
KillWait=10
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scontrol")
_READY_WITHIN_S = 60.0
REQUEUE_EXIT = 99


def _find(name):
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def why_not():
    """Returns the reason why no Slurm can be started here, or None."""
    missing = [name for name in _PROGRAMS if _find(name) is None]
    if missing:
        return f"no {', '.join(missing)} (Debian packages slurm-wlm, munge)"
    if os.geteuid() != 0:
        return "slurmd runs as root only"
    return None


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Slurm:
    def __init__(self, directory):
        self.here = pathlib.Path(directory)
        self.settings = self.here / "slurm.conf"
        self._daemons = []

    def __enter__(self):
        try:
            self._start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self._daemons):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start_all(self):
        for part in ("state", "spool"):
            (self.here / part).mkdir()
        key = self.here / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(1024))
        self.settings.write_text(_SETTINGS.format(
            here=self.here, user="root", host=socket.gethostname(),
            requeue=REQUEUE_EXIT, controller=_free_port(), daemon=_free_port()))
        self._daemon("munged", "--foreground", "--force", f"--key-file={key}",
                     f"--socket={self.here}/munge.sock",
                     f"--pid-file={self.here}/munge.pid",
                     f"--log-file={self.here}/munge.log",
                     f"--seed-file={self.here}/munge.seed")
        self._await("munge", lambda: (self.here / "munge.sock").exists())
        self._daemon("slurmctld", "-D", "-c")
        self._daemon("slurmd", "-D", "-c")
        self._await("the node", lambda: "idle" in self._text("sinfo", "-h"))

    def _daemon(self, name, *arguments):
        with open(self.here / f"{name}.log", "wb") as log:
            self._daemons.append(subprocess.Popen(
                [_find(name), *arguments], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env=self.environment()))

    def _await(self, what, come):
        give_up = time.monotonic() + _READY_WITHIN_S
        while not come():
            ended = [p.args[0] for p in self._daemons if p.poll() is not None]
            if ended or time.monotonic() > give_up:
                raise Failed(f"Slurm: {what} did not come up; ended: {ended}; "
                             f"logs in {self.here}")
            time.sleep(0.1)

    def environment(self):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("SLURM_")}
        return {**kept, "SLURM_CONF": str(self.settings)}

    def _text(self, *command):
        return self.run(*command).stdout

    def run(self, *command, **more):
        environment = {**self.environment(), **more.pop("variables", {})}
        return subprocess.run([str(word) for word in command],
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=180, check=False,
                              env=environment, **more)

    def job_facts(self, job):
        """Returns what scontrol reports of a job, by name."""
        text = self._text("scontrol", "-o", "show", "job", job)
        return dict(word.split("=", 1) for word in text.split() if "=" in word)
