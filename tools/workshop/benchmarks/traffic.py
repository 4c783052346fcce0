"""Captures that the benchmarks feed: RoCEv2 frames, as the project's own generator writes them."""
import pathlib
import struct
import subprocess

PORTS = 4
FLOWS = 4096  # of a port
DSCPS = range(0, 64, 8)  # one for each of eight classes


def port_mac(port):
    return f'02:53:00:00:00:{port:02x}'


def host_mac(port):
    return f'02:00:00:00:00:{port:02x}'


def remote(port):
    """Behind the hosts at this port: a group of next hops leads there."""
    return f'10.1.{port}.2'


def hosts(ports):
    """A recipe's part: one host behind each port, as sluiced.configuration() knows it."""
    lines = []
    for port in range(ports):
        lines += [f'[host.h{port}]', f'mac = "{host_mac(port)}"', f'gateway_mac = "{port_mac(port)}"', f'ip = ["10.0.{port}.2"]',
                  'speed = "400G"', '']
    return lines


def flow(port, to, dscp, size, flows, count):
    return ['[[flow]]', 'kind = "roce"', f'from = "h{port}"', f'to = "{to}"', f'dscp = {dscp}', f'flows = {flows}', f'count = {count}',
            f'size = {size}', '']


def generate(build, folder, lines, ports):
    """[capture of port 0, ...] of a recipe."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / 'traffic.toml'
    file.write_text('\n'.join(lines))
    done = subprocess.run([str(pathlib.Path(build) / 'sluice-traffic'), 'generate', str(file), '--out', str(folder)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f'sluice-traffic generate: {done.stdout}{done.stderr}')
    return [folder / f'h{port}.pcap' for port in range(ports)]


def make(build, folder, frames_per_port=None, size=60, ports=PORTS):
    """Every host sends frames of `size` bytes (without the FCS) to what is behind the next port, the DSCPs by turns; their
    connections are as many for all ports together as 4 ports have, FLOWS each."""
    flows = FLOWS * PORTS // ports
    lines = hosts(ports)
    for port in range(ports):
        for dscp in DSCPS:
            lines += flow(port, remote((port + 1) % ports), dscp, size, flows // len(DSCPS), (frames_per_port or flows) // len(DSCPS))
    return generate(build, folder, lines, ports)


def records(capture):
    """(header, [records]) of a capture file."""
    data = capture.read_bytes()
    at, out = 24, []
    while at < len(data):
        end = at + 16 + struct.unpack_from('<I', data, at + 8)[0]
        out.append(data[at:end])
        at = end
    return data[:24], out
