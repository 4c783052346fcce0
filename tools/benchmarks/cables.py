"""Cables of the kernel (veth) from a generator to two ports of a program, in a network namespace that goes away by itself."""
import contextlib
import ctypes
import os
import signal
import socket
import struct
import subprocess
import time
import traceback

from bench import Missing

NEW_NETWORK = 0x40000000  # CLONE_NEWNET
EVERY_PROTOCOL = 0x0003
SOL_PACKET, QDISC_BYPASS = 263, 20  # PACKET_QDISC_BYPASS
ATTACH_FILTER, TIMESTAMP_NS, RECEIVE_BUFFER = 26, 35, 33  # SO_ATTACH_FILTER, SO_TIMESTAMPNS, SO_RCVBUFFORCE
PAYLOAD = 54  # of RoCEv2 over IPv4, without a tag
MARK = 0xA5  # of a probe, then eight bytes: nanoseconds when it was sent

libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def namespace():
    """This thread, and what it starts, is in a network of its own."""
    with open('/proc/thread-self/ns/net', 'rb') as before:
        if libc.unshare(NEW_NETWORK) != 0:
            raise Missing(f'no network namespace: {os.strerror(ctypes.get_errno())}')
        try:
            yield
        finally:
            libc.setns(before.fileno(), NEW_NETWORK)


def cable(number):
    """A pair: the program has sw0, sw1, ..., the generator and the receiver host0, host1, ..."""
    ours, theirs = f'sw{number}', f'host{number}'
    for words in (['add', ours, 'type', 'veth', 'peer', 'name', theirs],
                  *(['set', name, *how] for name in (ours, theirs) for how in (['addrgenmode', 'none'], ['up']))):
        done = subprocess.run(['ip', 'link', *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Missing(f'no veth pair: {done.stderr.strip()}')


class Vector(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]


class Header(ctypes.Structure):  # struct msghdr
    _fields_ = [('name', ctypes.c_void_p), ('name_length', ctypes.c_uint32), ('vectors', ctypes.POINTER(Vector)),
                ('vector_count', ctypes.c_size_t), ('control', ctypes.c_void_p), ('control_length', ctypes.c_size_t),
                ('flags', ctypes.c_int)]


class Message(ctypes.Structure):  # struct mmsghdr
    _fields_ = [('header', Header), ('sent', ctypes.c_uint32)]


class Batches:
    """Frames in batches that one system call sends; the first of a batch is a probe."""

    def __init__(self, frames, batch):
        self.batch, self.next = batch, 0
        self.buffers = [ctypes.create_string_buffer(frame, len(frame)) for frame in frames[:len(frames) // batch * batch]]
        self.vectors = [Vector(ctypes.addressof(buffer), len(buffer)) for buffer in self.buffers]
        self.messages = (Message * len(self.buffers))()
        for message, vector in zip(self.messages, self.vectors):
            message.header.vectors, message.header.vector_count = ctypes.pointer(vector), 1

    def send(self, descriptor):
        probe = self.buffers[self.next]
        struct.pack_into('>BQ', probe, PAYLOAD, MARK, time.clock_gettime_ns(time.CLOCK_REALTIME))
        first = ctypes.byref(self.messages, self.next * ctypes.sizeof(Message))
        self.next = (self.next + self.batch) % len(self.buffers)
        return libc.sendmmsg(descriptor, first, self.batch, 0)


def generate(frames, per_second, core, batch):
    """For ever: a batch each time it is due. What could not be sent in time is left out, not made up for in a burst."""
    os.sched_setaffinity(0, {core})
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
    out.bind(('host0', 0))
    out.setsockopt(SOL_PACKET, QDISC_BYPASS, 1)
    batches, descriptor = Batches(frames, batch), out.fileno()
    interval = int(batch * 1e9 / per_second) if per_second else 0
    due = time.monotonic_ns()
    while True:
        while time.monotonic_ns() < due:
            pass
        batches.send(descriptor)
        due = max(due + interval, time.monotonic_ns() - 2 * interval)


@contextlib.contextmanager
def traffic(frames, per_second, core, batch):
    """A process sends for as long as this is open; per_second 0: as much as it can."""
    child = os.fork()
    if child == 0:
        try:
            generate(frames, per_second, core, batch)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def counted(interface):
    """(packets received, packets sent). Not from /sys, which shows the namespace that it was mounted in."""
    with open('/proc/thread-self/net/dev', encoding='ascii') as file:
        figures = {name.strip(): rest.split() for name, _, rest in (line.partition(':') for line in file)}[interface]
    return int(figures[1]), int(figures[9])


class Probes:
    """Takes the probes that come out, with the kernel's time of their arrival."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
        # BPF: only frames with the mark; `ret 0` else.
        program = [(0x30, 0, 0, PAYLOAD), (0x15, 0, 1, MARK), (0x06, 0, 0, 0xFFFF), (0x06, 0, 0, 0)]
        code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *line) for line in program))
        self.socket.setsockopt(socket.SOL_SOCKET, ATTACH_FILTER, struct.pack('HP', len(program), ctypes.addressof(code)))
        self.socket.setsockopt(socket.SOL_SOCKET, TIMESTAMP_NS, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER, 1 << 24)
        self.socket.bind(('host1', EVERY_PROTOCOL))
        self.socket.settimeout(0.2)

    def take(self, seconds):
        """Nanoseconds under way of each that comes in that time."""
        took, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                frame, control, _, _ = self.socket.recvmsg(256, 256)
            except TimeoutError:
                continue
            for _, kind, data in control:
                if kind == TIMESTAMP_NS:
                    arrived = struct.unpack('qq', data)
                    took.append(arrived[0] * 10**9 + arrived[1] - struct.unpack_from('>Q', frame, PAYLOAD + 1)[0])
        return took

    def close(self):
        self.socket.close()
