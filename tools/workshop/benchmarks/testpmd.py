"""DPDK's own forwarder as the yardstick: `dpdk-testpmd` on the same devices, one forwarding core."""
import contextlib
import os
import re
import selectors
import subprocess
import time

from bench import packets_per_second

TX = re.compile(r'TX-packets: *(\d+)')


class Testpmd:
    """One running testpmd; `rate(mode)` forwards for a while and gives packets per second."""

    def __init__(self, bench, devices, packet_buffer=None, packets=65536):
        self.ports = len(devices)
        self.process = subprocess.Popen(
            # its answers would wait in a full buffer, were they not flushed line by line
            [*bench.enter, 'stdbuf', '-oL', 'dpdk-testpmd', '-l', f'{bench.control_core},{bench.worker_core}', '--main-lcore',
             str(bench.control_core), '--no-pci', '--no-telemetry', '--no-shconf', *bench.memory.dpdk,
             *(word for device in devices for word in ('--vdev', device)), '--', '-i',
             '--nb-cores=1', f'--total-num-mbufs={packets}', '--no-flush-rx',
             *([f'--mbuf-size={packet_buffer + 128}'] if packet_buffer else [])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ)
        self.output = ''
        self.wait_for('testpmd> ', seconds=60)

    def wait_for(self, text, times=1, seconds=20):
        """Reads until `text` has come `times` times; gives what came."""
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while self.output.count(text) < times:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise RuntimeError(f'testpmd did not answer: {self.output[-2000:]}')
                more = os.read(self.process.stdout.fileno(), 65536)
                if not more:
                    raise RuntimeError(f'testpmd ended: {self.output[-2000:]}')
                self.output += more.decode(errors='replace')
        came, self.output = self.output, ''
        return came

    def command(self, text, answer, times=1):
        """The prompt is no sign of an answer: testpmd redraws it as it likes. Each command has its own."""
        self.output = ''
        self.process.stdin.write((text + '\n').encode())
        self.process.stdin.flush()
        return self.wait_for(answer, times)

    def sent(self):
        """(packets sent by all ports, the moment in seconds)."""
        moment = time.monotonic()
        packets = TX.findall(self.command('show port stats all', 'Tx-pps', self.ports))
        if len(packets) != self.ports:
            raise RuntimeError(f'testpmd showed {len(packets)} ports of {self.ports}')
        return sum(map(int, packets)), (moment + time.monotonic()) / 2

    @contextlib.contextmanager
    def forwarding(self, mode):
        self.command(f'set fwd {mode}', f'Set {mode} packet forwarding mode')
        self.command('start', f'{mode} packet forwarding')
        yield
        self.command('stop', 'Done.')

    def rate(self, mode, **times):
        with self.forwarding(mode):
            return packets_per_second(self.sent, **times)

    def close(self):
        try:
            self.process.stdin.write(b'quit\n')
            self.process.stdin.close()
            self.process.wait(timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
