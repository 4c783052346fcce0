"""Captures that the benchmarks feed: small RoCEv2 frames, as the project's own generator writes them."""
import pathlib
import subprocess

PORTS = 4
FLOWS = 4096


def port_mac(port):
    return f'02:53:00:00:00:{port:02x}'


def host_mac(port):
    return f'02:00:00:00:00:{port:02x}'


def recipe(frames_per_port, size):
    """Every host sends frames of `size` bytes (without the FCS) of FLOWS connections to the next host; lossless class 3."""
    lines = []
    for port in range(PORTS):
        lines += [f'[host.h{port}]', f'mac = "{host_mac(port)}"', f'gateway_mac = "{port_mac(port)}"',
                  f'ip = "10.0.{port}.2"', 'speed = "400G"', '']
    for port in range(PORTS):
        lines += ['[[flow]]', 'kind = "roce"', f'from = "h{port}"', f'to = "h{(port + 1) % PORTS}"',
                  f'flows = {FLOWS}', f'count = {frames_per_port}', f'size = {size}', '']
    return '\n'.join(lines)


def make(build, folder, frames_per_port=FLOWS, size=60):
    """[capture of port 0, ...] in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / 'traffic.toml'
    text.write_text(recipe(frames_per_port, size))
    done = subprocess.run([str(pathlib.Path(build) / 'sluice-traffic'), 'generate', str(text), '--out', str(folder)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f'sluice-traffic generate: {done.stdout}{done.stderr}')
    return [folder / f'h{port}.pcap' for port in range(PORTS)]
