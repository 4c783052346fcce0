"""Simulated RoCE hosts under the virtual clock, against captures of the very frames that they send."""
import resource
import struct

import sluiced
import traffic
from bench import row

REACH = 0.6  # of the packets a second that captures reach
FEW, MANY = 24, 10_000  # queue pairs of a host, those counted that only answer
FRAMES = 400_000  # of all ports, about
MOST_OF_A_FLOW = 1000  # queue pairs of a pair of hosts
PORTS = 4


def flows(queue_pairs):
    """Every host sends to every other one, as fast as it may."""
    each = -(-queue_pairs // (2 * (PORTS - 1)))  # of a pair of hosts, one way
    lines = []
    while each > 0:
        qps = min(each, MOST_OF_A_FLOW)
        each -= qps
        for host in range(PORTS):
            to = [f'h{other}' for other in range(PORTS) if other != host]
            lines += ['[[flow]]', f'from = ["h{host}"]', f'to = {to}', f'qps = {qps}', 'message = "1MB"', 'depth = 2', '']
    return lines


def configuration(devices, more):
    lines = ['clock = "virtual"', 'buffer.size = "32MB"', 'buffer.packet_buffer = 4352', '[default]', 'qos = "lossless"']
    for port in range(PORTS):
        lines += [f'[port.p{port}]', 'speed = "100G"', f'mac = "{traffic.port_mac(port)}"', f'address = ["10.0.{port}.1/24"]']
        lines += [f'device = "net_pcap{port},{devices[port]}"'] if devices else []
    return '\n'.join(lines + more) + '\n'


def host_lines(mtu, queue_pairs):
    lines = []
    for port in range(PORTS):
        lines += [f'[host.h{port}]', f'port = "p{port}"', f'address = "10.0.{port}.2"', f'mac = "{traffic.host_mac(port)}"',
                  f'mtu = {mtu}', 'cc = "dcqcn"']
    return lines + flows(queue_pairs)


def neighbors():
    return [line for port in range(PORTS) for line in
            ('[[neighbor]]', f'address = "10.0.{port}.2"', f'port = "p{port}"', f'mac = "{traffic.host_mac(port)}"')]


def sent_by_hosts(delivered, folder):
    """[capture of what each host sent] from those of what the switch delivered: the port is in the source's address, the time is
    that of the delivery, one by one as each host sent them."""
    frames = [[] for _ in range(PORTS)]
    for capture in delivered:
        header, records = traffic.records(capture)
        for record in records:
            frames[record[16 + 14 + 14]].append(record)  # 10.0.N.2
        capture.unlink()
    made = []
    for port, own in enumerate(frames):
        own.sort(key=lambda record: struct.unpack_from('<II', record))
        macs = bytes.fromhex((traffic.port_mac(port) + traffic.host_mac(port)).replace(':', ''))
        made.append(folder / f'sent-{port}.pcap')
        with open(made[-1], 'wb') as file:
            file.write(header)
            for record in own:
                file.write(record[:16] + macs + record[28:])
    return made


def rate(switch, *options):
    """Measures million packets a second of the process's time in user space, without that of its start."""
    def seconds(*more):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        report, _ = switch.run(*more)
        return report, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def measure():
        idle = seconds('--duration', '0')[1]
        report, busy = seconds(*options)
        sluiced.refuse_losses(report)
        return report['ledger']['rx'] / (busy - idle) / 1e6
    return measure


def against_captures(bench, name, mtu, queue_pairs):
    bench.need('sluiced')
    us = FRAMES // PORTS * (mtu + 82) * 8 // 100_000
    hosts = host_lines(mtu, queue_pairs)
    delivered = [bench.folder / f'delivered-{port}.pcap' for port in range(PORTS)]
    recorded = configuration([f'tx_pcap={capture}' for capture in delivered], hosts)
    sluiced.Sluiced(bench, recorded, 'recorded').run('--duration', f'{us}us')
    captures = sent_by_hosts(delivered, bench.folder)
    yardstick = configuration([f'rx_pcap={capture}' for capture in captures], neighbors())
    rates = bench.by_turns(name, captures=rate(sluiced.Sluiced(bench, yardstick, 'captures')),
                           hosts=rate(sluiced.Sluiced(bench, configuration(None, hosts), 'hosts'), '--duration', f'{us}us'))
    return [row(name, 'Mpps', rates['hosts'], 'captures of the same frames', rates['captures'], reach=REACH)]


def hosts(bench):
    """packets per second of processor time of four RoCE hosts at 100G with DCQCN, each sending to all others in 1 KB packets, ACKs
    and CNPs counted, against captures of the same frames"""
    return against_captures(bench, 'hosts_1024', 1024, FEW)


def hosts_4096(bench):
    """the same in 4 KB packets"""
    return against_captures(bench, 'hosts_4096', 4096, FEW)


def hosts_10000(bench):
    """the same in 1 KB packets with 10 000 queue pairs a host, which all have messages: DCQCN's least rate is more than the
    links, so that queues stand and half of the packets are marked"""
    return against_captures(bench, 'hosts_1024_10000_qps', 1024, MANY)


def hosts_4096_10000(bench):
    """the same in 4 KB packets"""
    return against_captures(bench, 'hosts_4096_10000_qps', 4096, MANY)


BENCHMARKS = {'hosts_1024': hosts, 'hosts_4096': hosts_4096, 'hosts_1024_10000': hosts_10000,
              'hosts_4096_10000': hosts_4096_10000}
