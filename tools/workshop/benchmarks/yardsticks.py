"""DPDK's own programs as yardsticks, on the same devices and one core: its forwarder dpdk-testpmd, and its example router l3fwd."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

from bench import Missing

PATIENCE_S = 60


class Yardstick:
    """A program of DPDK that forwards from its start until it is left; its telemetry says what its ports have sent."""

    def __init__(self, bench, devices, cores, words):
        self.bench, self.ports = bench, len(devices)
        prefix = f'sluice-bench-{os.getpid()}'
        runtime = os.environ.get('RUNTIME_DIRECTORY', '/var/run' if os.geteuid() == 0 else os.environ.get('XDG_RUNTIME_DIR', '/tmp'))
        self.telemetry = pathlib.Path(runtime) / 'dpdk' / prefix / 'dpdk_telemetry.v2'
        program, *words = words
        vdevs = [word for device in devices for word in ('--vdev', device)]
        self.command = [*bench.enter, str(program), *cores, '--no-pci', f'--file-prefix={prefix}', *bench.memory.dpdk, *vdevs, '--', *words]
        self.log = bench.folder / 'yardstick.log'

    def __enter__(self):
        with open(self.log, 'wb') as log:
            # testpmd ends with its input
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=log, stderr=log)
        try:
            self.socket = self.connect()
        except BaseException:
            self.close()
            raise
        return self

    def connect(self):
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < end:
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            client.settimeout(PATIENCE_S)
            try:
                client.connect(str(self.telemetry))
                client.recv(4096)  # who it is
                return client
            except OSError:
                client.close()
                time.sleep(0.05)
        raise RuntimeError(f'{self.command[len(self.bench.enter)]} has no telemetry: {self.log.read_text(errors="replace")[-2000:]}')

    def wait_for_links(self):
        """Its own business."""

    def sent(self):
        """(packets sent by all ports, the moment in seconds)."""
        moment, packets = time.monotonic(), 0
        for port in range(self.ports):
            self.socket.send(f'/ethdev/stats,{port}'.encode())
            packets += json.loads(self.socket.recv(65536))['/ethdev/stats']['opackets']
        return packets, (moment + time.monotonic()) / 2

    def close(self):
        self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __exit__(self, *_):
        self.socket.close()
        self.close()


def testpmd(bench, devices, mode, packet_buffer=None, packets=65536):
    """`mode`: io, or mac, which rewrites the addresses."""
    if not shutil.which('dpdk-testpmd'):
        raise Missing('dpdk-testpmd is not there')
    cores = ['-l', f'{bench.control_core},{bench.worker_cores[0]}', '--main-lcore', str(bench.control_core)]
    return Yardstick(bench, devices, cores, ['dpdk-testpmd', f'--forward-mode={mode}', '--nb-cores=1', f'--total-num-mbufs={packets}',
                                             '--no-flush-rx', *([f'--mbuf-size={packet_buffer + 128}'] if packet_buffer else [])])


def l3fwd(bench, devices):
    """With the routes of IPv4 that traffic.remote() leads by."""
    core, ports = bench.worker_cores[0], range(len(devices))
    files = [bench.folder / 'l3fwd-ipv4', bench.folder / 'l3fwd-ipv6']
    for file, prefix in zip(files, ('10.1.{}.0/24', '2001:db8:1:{:x}::/64')):
        file.write_text(''.join(f'R{prefix.format(port)} {port}\n' for port in ports))
    return Yardstick(bench, devices, ['-l', str(core)], [
        bench.l3fwd, '-P', '--per-port-pool', '--parse-ptype', '--lookup=lpm', f'-p{(1 << len(ports)) - 1:#x}',
        f'--config={",".join(f"({port},0,{core})" for port in ports)}', f'--rule_ipv4={files[0]}', f'--rule_ipv6={files[1]}'])


def rate(yardstick):
    """Million packets a second."""
    with yardstick as program:
        time.sleep(0.5)
        packets, start = program.sent()
        time.sleep(program.bench.seconds)
        more, end = program.sent()
    return (more - packets) / (end - start) / 1e6
