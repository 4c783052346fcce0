"""A root of the distribution's own, made by debootstrap from the archive that this machine's apt is configured with, and that root booted:
systemd is its first process, in namespaces of its own.

Nothing of it is left behind, even by a test that is killed: the test itself runs in namespaces (`enter`), with which its processes and mounts
go, and the root is memory that one of these mounts is. What a kill leaves is empty control groups; the next test removes them.
"""

import contextlib
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

from programs import said
from waiting import PATIENCE_S

# Beside what is essential; packages bring the rest.
PACKAGES = "systemd,systemd-sysv,dbus,iproute2"
ROOMS = ("proc", "sys", "dev")

MARK = "SLUICE_IN_NAMESPACE"
# systemd-nspawn has its own files there, too.
PLACE = "/run/systemd/nspawn"
OWN = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--", "sh", "-c",
       f'mkdir -p {PLACE} && mount -t tmpfs -o mode=755 none {PLACE} && exec "$@"', "sh"]


def enter():
    """This program again, in namespaces of its own; nothing where it is there already. A reason why there can be none."""
    if MARK in os.environ:
        return None
    done = subprocess.run([*OWN, "true"], capture_output=True, text=True)
    if done.returncode != 0:
        return f"no namespaces of its own: {done.stderr.strip()}"
    os.execvpe("unshare", [*OWN, sys.executable, *sys.argv], {**os.environ, MARK: "1"})


def archive():
    """[(address, suite, [component])] of apt's lists that are the distribution's, its main suite first."""
    name = platform.freedesktop_os_release()["VERSION_CODENAME"]
    lines = said("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT) $(CODENAME)", "Created-By: Packages", "Origin: Debian")
    found = {}
    for line in lines.splitlines():
        address, suite, component, codename = line.split()
        if codename.split("-")[0] == name:
            found.setdefault((address, suite), []).append(component)
    return sorted(((*where, components) for where, components in found.items()), key=lambda each: (each[1] != name, each[1]))


class CleanRoot:
    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="sluice-root-", dir=PLACE))
        self.path.chmod(0o755)
        self.container = None
        self.mounted = []

    def make(self):
        archives = archive()
        address, suite, _ = archives[0]
        said("nice", "debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, self.path, address)
        etc = self.path / "etc"
        (etc / "apt/sources.list").write_text("".join(f"deb {address} {suite} {' '.join(sorted(set(components)))}\n" for address, suite, components in archives))
        # What apt may need here to reach it, but for addresses, which it has.
        valid = said("apt-config", "dump", "Acquire::Check-Valid-Until") + said("apt-config", "dump", "Acquire::Check-Date")
        (etc / "apt/apt.conf.d/99-here").write_text(valid)
        shutil.copy("/etc/hosts", etc / "hosts")
        shutil.copy("/etc/resolv.conf", etc / "resolv.conf")

    def run(self, *command, status=0):
        """In the root, whose network is this machine's."""
        if not self.mounted:
            for room in ROOMS:
                said("mount", "--rbind", f"/{room}", self.path / room)
                self.mounted.append(self.path / room)
                said("mount", "--make-rslave", self.path / room)
        return said("env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
                    *(f"{name}={value}" for name, value in os.environ.items() if name.lower().endswith("_proxy")),
                    "nice", "chroot", self.path, *command, status=status)

    def leave(self):
        """Takes away what `run` needed."""
        while self.mounted:
            said("umount", "--recursive", "--lazy", self.mounted.pop())

    # --- booted -------------------------------------------------------------------------------------------------

    def nspawn(self, *more):
        return ["systemd-nspawn", "--register=no", "--keep-unit", f"--directory={self.path}", "--private-network", "--capability=CAP_BPF,CAP_IPC_LOCK",
                "--system-call-filter=bpf",  # for XDP ports
                "--bind-ro=/sys/module",  # hidden otherwise, and DPDK does not start without
                *more]

    def why_no_boot(self):
        """The reason why this machine makes no container, or None."""
        self.leave()
        done = subprocess.run(self.nspawn("--quiet", "--pipe", "true"), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return None if done.returncode == 0 else f"systemd-nspawn: {done.stderr.strip()}"

    def boot(self):
        self.leave()
        self.log = open(self.path.with_suffix(".log"), "w")
        self.container = subprocess.Popen(self.nspawn("--console=read-only", "--kill-signal=SIGRTMIN+3", "--boot"),
                                          stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.wait_for(lambda: self.first_process() is not None, "systemd-nspawn starts nothing")
        self.wait_for(lambda: self.inside("systemctl", "is-system-running", any_status=True).strip() in ("running", "degraded"), "systemd does not come up")

    def first_process(self):
        children = pathlib.Path(f"/proc/{self.container.pid}/task/{self.container.pid}/children").read_text().split()
        for child in children:
            if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                return int(child)
        return None

    def inside(self, *command, any_status=False, status=0):
        """In the booted root; in one that could not be booted, without its first process."""
        if self.container is None:
            return self.run(*command, status=status)
        done = subprocess.run(["nsenter", f"--target={self.first_process()}", "--all", "--wdns=/", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
                               "DEBIAN_FRONTEND=noninteractive", *map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if not any_status and done.returncode != status:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def outer_process(self, inner):
        """This machine's number of a process of the booted root."""
        for status in pathlib.Path("/proc").glob("[0-9]*/status"):
            try:
                line = next(line for line in status.read_text().splitlines() if line.startswith("NSpid:"))
            except (OSError, StopIteration):
                continue
            numbers = line.split()[1:]
            if len(numbers) == 2 and int(numbers[1]) == inner and self.is_of_ours(status.parent):
                return int(numbers[0])
        raise AssertionError(f"no process {inner} in the root")

    def is_of_ours(self, process):
        return os.readlink(process / "ns/pid") == os.readlink(f"/proc/{self.first_process()}/ns/pid")

    def wait_for(self, holds, complaint):
        end = time.monotonic() + PATIENCE_S
        while not holds():
            if self.container.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"{complaint}\n{self.path.with_suffix('.log').read_text()[-3000:]}")
            time.sleep(0.05)

    def close(self):
        if self.container is not None:
            self.container.terminate()
            try:
                self.container.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.container.kill()
                self.container.wait()
            self.log.close()
        self.leave()
        said("rm", "-rf", "--one-file-system", self.path, self.path.with_suffix(".log"))
        for groups in pathlib.Path("/sys/fs/cgroup").glob("*"):
            for name in ("payload", "supervisor"):
                remove_groups(groups / name)


def remove_groups(path):
    """Control groups that nspawn makes, if they are empty."""
    for folder, _, _ in os.walk(path, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(folder)
