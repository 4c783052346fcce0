"""Captures that the benchmarks feed: small RoCEv2 frames, as the project's own generator writes them."""
import pathlib
import struct
import subprocess

PORTS = 4
FLOWS = 4096
LOSSLESS = (26,)  # DSCP of the class that is lossless by default
EIGHT = tuple(range(0, 64, 8))  # a DSCP for each of eight classes


def port_mac(port):
    return f'02:53:00:00:00:{port:02x}'


def host_mac(port):
    return f'02:00:00:00:00:{port:02x}'


def recipe(frames_per_port, size, dscps):
    """Every host sends frames of `size` bytes (without the FCS) of FLOWS connections to the next host, the DSCPs by turns."""
    lines = []
    for port in range(PORTS):
        lines += [f'[host.h{port}]', f'mac = "{host_mac(port)}"', f'gateway_mac = "{port_mac(port)}"',
                  f'ip = "10.0.{port}.2"', 'speed = "400G"', '']
    for port in range(PORTS):
        for dscp in dscps:
            lines += ['[[flow]]', 'kind = "roce"', f'from = "h{port}"', f'to = "h{(port + 1) % PORTS}"', f'dscp = {dscp}',
                      f'flows = {FLOWS // len(dscps)}', f'count = {frames_per_port // len(dscps)}', f'size = {size}', '']
    return '\n'.join(lines)


def make(build, folder, frames_per_port=FLOWS, size=60, dscps=LOSSLESS):
    """[capture of port 0, ...] in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / 'traffic.toml'
    text.write_text(recipe(frames_per_port, size, dscps))
    done = subprocess.run([str(pathlib.Path(build) / 'sluice-traffic'), 'generate', str(text), '--out', str(folder)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f'sluice-traffic generate: {done.stdout}{done.stderr}')
    return [folder / f'h{port}.pcap' for port in range(PORTS)]


def pfc_frame(quanta):
    """Of all eight classes; 0 resumes them."""
    return (bytes.fromhex('0180c2000001020000000099') + struct.pack('>HHH8H', 0x8808, 0x0101, 0xFF, *[quanta] * 8)).ljust(60, b'\0')


def records(capture):
    data = capture.read_bytes()
    at, out = 24, []
    while at < len(data):
        end = at + 16 + struct.unpack_from('<I', data, at + 8)[0]
        out.append(data[at:end])
        at = end
    return data[:24], out


def with_pauses(captures, cycle, let_go, burst):
    """The same captures, to be played for ever: the peer pauses all classes, says so again in every burst of `burst` frames,
    and lets go for the time of the last `let_go` frames of every `cycle`, the XON counted."""
    made = []
    for capture in captures:
        header, frames = records(capture)
        off, on = (struct.pack('<IIII', 0, 0, 60, 60) + pfc_frame(quanta) for quanta in (0xFFFF, 0))
        whole = len(frames) // cycle * cycle
        out = [header]
        for first in range(0, whole, cycle):
            last = first + cycle - (let_go - 1)
            for part in range(first, last, burst - 1):
                out += [off, *frames[part:min(part + burst - 1, last)]]
            out += [on, *frames[last:first + cycle]]
        made.append(capture.with_name('paused-' + capture.name))
        made[-1].write_bytes(b''.join(out))
    return made
