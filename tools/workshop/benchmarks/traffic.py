"""Captures that the benchmarks feed: RoCEv2 frames, as the project's own generator writes them."""
import pathlib
import struct
import subprocess

PORTS = 4
FLOWS = 4096  # of a port
LOSSLESS = (26,)  # DSCP of the class that is lossless by default
EIGHT = tuple(range(0, 64, 8))  # a DSCP for each of eight classes
VLAN = 10


def port_mac(port):
    return f'02:53:00:00:00:{port:02x}'


def host_mac(port):
    return f'02:00:00:00:00:{port:02x}'


def remote(port, version=4):
    """Behind the hosts at this port: a group of next hops leads there."""
    return f'10.1.{port}.2' if version == 4 else f'2001:db8:1:{port:x}::2'


def hosts(ports, speed='400G', vlan=False):
    """A recipe's part: one host behind each port, as sluiced.configuration() knows it."""
    lines = []
    for port in range(ports):
        lines += [f'[host.h{port}]', f'mac = "{host_mac(port)}"', f'gateway_mac = "{port_mac(port)}"',
                  f'ip = ["10.0.{port}.2", "2001:db8:0:{port:x}::2"]', f'speed = "{speed}"', f'vlan = [{VLAN}]' if vlan else '', '']
    return '\n'.join(lines)


def recipe(frames_per_port, size, dscps, ports, flows, version, vlan, apart):
    lines = [hosts(ports, vlan=vlan)]
    every_ns = 5376 // len(dscps)  # of 84 bytes each, at a rate that leaves room for those of 64 ports between two
    for port in range(ports):
        for dscp in dscps:
            lines += ['[[flow]]', 'kind = "roce"', f'from = "h{port}"', f'to = "{remote((port + 1) % ports, version)}"',
                      f'dscp = {dscp}', f'flows = {flows // len(dscps)}', f'count = {frames_per_port // len(dscps)}',
                      f'size = {size}', '']
            if apart:
                lines[-1:] = [f'gap = "{every_ns * len(dscps)}ns"',
                              f'start = "{dscps.index(dscp) * every_ns + port * every_ns // ports}ns"', '']
    return '\n'.join(lines)


def generate(build, folder, text, ports):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / 'traffic.toml'
    file.write_text(text)
    done = subprocess.run([str(pathlib.Path(build) / 'sluice-traffic'), 'generate', str(file), '--out', str(folder)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f'sluice-traffic generate: {done.stdout}{done.stderr}')
    return [folder / f'h{port}.pcap' for port in range(ports)]


def make(build, folder, frames_per_port=None, size=60, dscps=EIGHT, ports=PORTS, flows=FLOWS, version=4, vlan=False,
         apart=False):
    """[capture of port 0, ...] in `folder`: every host sends frames of `size` bytes (without the FCS) of `flows`
    connections to what is behind the next port, the DSCPs by turns. `apart`: no two of any hosts at one moment, none back to back."""
    return generate(build, folder, recipe(frames_per_port or flows, size, dscps, ports, flows, version, vlan, apart), ports)


def pfc_frame(quanta):
    """Of all eight classes; 0 resumes them."""
    return (bytes.fromhex('0180c2000001020000000099') + struct.pack('>HHH8H', 0x8808, 0x0101, 0xFF, *[quanta] * 8)).ljust(60, b'\0')


def records(capture):
    """(header, [records]) of a capture file."""
    data = capture.read_bytes()
    at, out = 24, []
    while at < len(data):
        end = at + 16 + struct.unpack_from('<I', data, at + 8)[0]
        out.append(data[at:end])
        at = end
    return data[:24], out


def dealt(capture, files):
    """Its frames in so many files, by turns."""
    header, frames = records(capture)
    made = [capture.with_name(f'{number}-{capture.name}') for number in range(files)]
    for number, part in enumerate(made):
        part.write_bytes(header + b''.join(frames[number::files]))
    return made


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


def towards(captures, address_of):
    """The same captures with other IPv4 destinations: address_of(port, frame number), an integer. ICRCs, which no switch
    looks at, are then those of the old ones."""
    made = []
    for port, capture in enumerate(captures):
        header, frames = records(capture)
        out = [header]
        for number, record in enumerate(frames):
            frame = bytearray(record)
            ip = 16 + 14
            struct.pack_into('>I', frame, ip + 16, address_of(port, number))
            struct.pack_into('>H', frame, ip + 10, 0)
            total = sum(struct.unpack_from('>10H', frame, ip))
            total = (total & 0xFFFF) + (total >> 16)
            struct.pack_into('>H', frame, ip + 10, ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
            out.append(bytes(frame))
        made.append(capture.with_name('towards-' + capture.name))
        made[-1].write_bytes(b''.join(out))
    return made
