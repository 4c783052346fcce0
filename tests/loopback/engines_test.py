#!/usr/bin/python3
"""Sweeps as job arrays of engines that are there: the command lines of the manual. Slurm with --long: controller, node and munge on this
machine, and a task that is requeued in its middle."""

import contextlib
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
import unittest

import loopback
from loopback import LONG, PATIENCE_S, ROOT, run
from scenarios_test import DONE, SMALL, Scenarios

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "sinfo")
TASKS = 3
RUNS = 24  # of all tasks
# Long enough that a task is in its middle when it is told to go.
LASTING = SMALL.replace('stop = "100us"', 'stop = "10ms"\nspread = "20us"') + f"[vary]\nseeds = {RUNS}\n"

CONFIGURATION = """
ClusterName=sluice
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={tasks}
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def missing():
    """Why it cannot run here; None if it can."""
    if not LONG:
        return "wants --long"
    if os.geteuid() != 0:
        return "Slurm's daemons want root"
    path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin"
    absent = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    return f"{', '.join(absent)} not installed; do: tools/setup slurm" if absent else None


def free_ports(count):
    with contextlib.ExitStack() as open_sockets:
        sockets = [open_sockets.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def wait_until(holds, what):
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain until {what}")
        time.sleep(0.05)


class Cluster:
    """Slurm in a folder. Nothing of it is left when it is closed."""

    def __init__(self, folder, programs):
        self.folder = folder
        self.daemons = []
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin"}

    def open(self):
        folder = self.folder
        folder.chmod(0o755)  # else munged finds that nobody could use its socket
        for name in ("state", "spool"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
        (folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], ports=free_ports(2), folder=folder, tasks=TASKS))
        self.start("munged", "--foreground", f"--key-file={key}", *(f"--{name}={folder}/munge.{ending}" for name, ending in (
            ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))))
        wait_until((folder / "munge.socket").exists, "munged listens")
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D")
        wait_until(lambda: "idle" in self.ask("sinfo", "--noheader", "--format=%t"), f"the node is idle: {self.logs()}")

    def start(self, *command):
        log = (self.folder / f"{command[0]}.log").open("w")
        self.daemons.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             cwd=self.folder))

    def ask(self, *command):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE_S, cwd=self.folder)
        return done.stdout + done.stderr

    def logs(self):
        return "\n".join(path.read_text(errors="replace")[-2000:] for path in sorted(self.folder.glob("*.log")))

    def is_over(self):
        return not self.ask("squeue", "--noheader").strip()

    def close(self):
        self.ask("scancel", "--user=root")
        with contextlib.suppress(AssertionError):
            wait_until(self.is_over, "its jobs are over")
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def documented(engine):
    """The command line that the manual has for it."""
    text = " ".join((ROOT / "tools" / "fabric" / "manual.md").read_text().split())
    return re.search({"slurm": r"`(sbatch [^`]*)`", "kubernetes": r"`(sh -c [^`]*JOB_COMPLETION_INDEX[^`]*)`"}[engine], text)[1]


class Engines(Scenarios):
    def merged_as_by_one(self, text):
        """The shards in out/ are, merged, what one process makes."""
        self.sweep("one", text=text)
        shards = sorted((self.folder / "out").iterdir())
        self.assertEqual(len(shards), TASKS)
        done = run([self.program, "merge", *shards, "--out", self.folder / "merged"])
        self.assertEqual(done.returncode, DONE, done.stderr)
        for name in ("sweep.csv", "sweep.jsonl", "sweep.json"):
            self.assertEqual((self.folder / "merged" / name).read_bytes(), (self.folder / "one" / name).read_bytes(), name)

    def test_an_indexed_job_of_kubernetes(self):
        text = SMALL + "[vary]\nseeds = 4\n"
        (self.folder / "S.toml").write_text(text)
        command = documented("kubernetes").replace("/8", f"/{TASKS}")
        for index in range(TASKS):
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=self.folder, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "JOB_COMPLETION_INDEX": str(index), "PATH": f"{self.program.parent}:/usr/bin:/bin"})
            self.assertEqual(done.returncode, DONE, done.stderr)
        self.merged_as_by_one(text)

    @unittest.skipIf(missing(), missing())
    def test_a_job_array_of_slurm_of_which_a_task_is_requeued(self):
        cluster = Cluster(self.folder, self.program.parent)
        self.addCleanup(cluster.close)
        cluster.open()
        (self.folder / "S.toml").write_text(LASTING)
        command = documented("slurm").replace("1-8", f"1-{TASKS}").replace("/8", f"/{TASKS}")
        said = cluster.ask("bash", "-c", command.replace("sbatch ", "sbatch --parsable --requeue --open-mode=append --output=%a.txt ", 1))
        job = said.strip()
        self.assertRegex(job, r"^\d+$", said)
        rows = self.folder / "out" / "2" / "runs"
        wait_until(lambda: list(rows.glob("*.json")), f"the second task has a row: {said}")
        requeued = cluster.ask("scontrol", "requeue", f"{job}_2")
        self.assertEqual(requeued.strip(), "")
        wait_until(lambda: "PENDING" in cluster.ask("squeue", "--noheader", f"--job={job}_2", "--format=%T"), "the second task waits again")
        self.assertLess(len(list(rows.glob("*.json"))), RUNS // TASKS, "it was over before it was requeued")
        # Slurm lets it wait for two minutes otherwise.
        cluster.ask("scontrol", "update", f"JobId={job}_2", "StartTime=now")
        wait_until(cluster.is_over, "all tasks are over")
        told = [(self.folder / f"{task}.txt").read_text() for task in range(1, TASKS + 1)]
        self.assertEqual(["kept from before" in text for text in told], [False, True, False], told)
        self.merged_as_by_one(LASTING)


if __name__ == "__main__":
    loopback.main()
