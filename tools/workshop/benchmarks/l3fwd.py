"""DPDK's example router as a yardstick: l3fwd (LPM) on the same devices, one core, counted by its telemetry."""
import json
import os
import pathlib
import socket
import subprocess
import time

from bench import packets_per_second

PATIENCE_S = 60


class L3fwd:
    """One running l3fwd, which forwards from its start; `rate` counts what its ports send. It knows the routes of IPv4 that
    traffic.remote() leads by."""

    def __init__(self, bench, devices):
        self.ports = len(devices)
        core = bench.worker_core
        rules = bench.folder / 'l3fwd-rules'
        rules.write_text(''.join(f'R10.1.{port}.0/24 {port}\n' for port in range(self.ports)))
        none = bench.folder / 'l3fwd-rules-ipv6'
        none.write_text(''.join(f'R2001:db8:1:{port:x}::/64 {port}\n' for port in range(self.ports)))
        prefix = f'sluice-bench-{os.getpid()}'
        self.socket_path = pathlib.Path(os.environ.get('RUNTIME_DIRECTORY', '/var/run' if os.geteuid() == 0 else
                                                       os.environ.get('XDG_RUNTIME_DIR', '/tmp'))) / 'dpdk' / prefix / 'dpdk_telemetry.v2'
        self.log = bench.folder / 'l3fwd.log'
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen(
                [*bench.enter, str(bench.l3fwd), '-l', str(core), '--no-pci', f'--file-prefix={prefix}', *bench.memory.dpdk,
                 *(word for device in devices for word in ('--vdev', device)), '--', '-P', '--per-port-pool', '--parse-ptype', '--lookup=lpm', f'-p{(1 << self.ports) - 1:#x}',
                 f'--config={",".join(f"({port},0,{core})" for port in range(self.ports))}', f'--rule_ipv4={rules}', f'--rule_ipv6={none}'],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.socket = self.connect()
        except BaseException:
            self.close()
            raise

    def connect(self):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f'l3fwd ended: {self.log.read_text(errors="replace")[-2000:]}')
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                client.connect(str(self.socket_path))
                client.settimeout(PATIENCE_S)
                client.recv(4096)  # who it is
                return client
            except OSError:
                client.close()
                time.sleep(0.05)
        raise RuntimeError('l3fwd makes no telemetry socket')

    def sent(self):
        """(packets sent by all ports, the moment in seconds)."""
        moment, packets = time.monotonic(), 0
        for port in range(self.ports):
            self.socket.send(f'/ethdev/stats,{port}'.encode())
            packets += json.loads(self.socket.recv(65536))['/ethdev/stats']['opackets']
        return packets, (moment + time.monotonic()) / 2

    def rate(self, **times):
        return packets_per_second(self.sent, **times)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.close()
