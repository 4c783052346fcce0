"""Simulated RoCE hosts under the virtual clock, against captures of the very frames that they send."""
import resource
import struct

import sluiced
import traffic

REACH = 0.6  # of the packets a second that captures reach
CASES = [(mtu, queue_pairs) for queue_pairs in (24, 10_000) for mtu in (1024, 4096)]  # of a host, those counted that only answer
FRAMES = 400_000  # of all ports, about
MOST_OF_A_FLOW = 1000  # queue pairs of a pair of hosts
PORTS = 4


def flows(queue_pairs):
    """Every host sends to every other one, as fast as it may."""
    each = -(-queue_pairs // (2 * (PORTS - 1)))  # of a pair of hosts, one way
    lines = []
    for first in range(0, each, MOST_OF_A_FLOW):
        for host in range(PORTS):
            to = [f'h{other}' for other in range(PORTS) if other != host]
            lines += ['[[flow]]', f'from = ["h{host}"]', f'to = {to}', f'qps = {min(each - first, MOST_OF_A_FLOW)}', 'message = "1MB"',
                      'depth = 2', '']
    return lines


def configuration(devices, more):
    return sluiced.configuration(devices, clock='virtual', packet_buffer=4352, qos='[default]\nqos = "lossless"\n') + '\n'.join(more)


def host_lines(mtu, queue_pairs):
    return [line for port in range(PORTS) for line in
            (f'[host.h{port}]', f'port = "p{port}"', f'address = "10.0.{port}.2"', f'mac = "{traffic.host_mac(port)}"', f'mtu = {mtu}',
             'cc = "dcqcn"')] + flows(queue_pairs)


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
        made[-1].write_bytes(header + b''.join(record[:16] + macs + record[28:] for record in own))
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


def hosts(bench):
    """packets per second of processor time of four RoCE hosts at 100G with DCQCN, each sending to all others in packets of 1 and of
    4 KB, ACKs and CNPs counted, against captures of the same frames; with 24 queue pairs a host, and with 10 000, which all have messages:
    DCQCN's least rate is more than the links, so that queues stand and half of the packets are marked"""
    bench.need('sluiced')
    rows = []
    for mtu, queue_pairs in CASES:
        us = FRAMES // PORTS * (mtu + 82) * 8 // 100_000
        name, senders = f'hosts_{mtu}' + ('' if queue_pairs < 10_000 else f'_{queue_pairs}_qps'), host_lines(mtu, queue_pairs)
        delivered = [bench.folder / f'delivered-{port}.pcap' for port in range(PORTS)]
        recorded = configuration([f'net_pcap{port},tx_pcap={capture}' for port, capture in enumerate(delivered)], senders)
        sluiced.Sluiced(bench, recorded, 'recorded').run('--duration', f'{us}us')
        yardstick = configuration([f'net_pcap{port},rx_pcap={capture}' for port, capture in enumerate(sent_by_hosts(delivered, bench.folder))], [])
        rows.append(bench.against_yardstick(
            name, 'Mpps', rate(sluiced.Sluiced(bench, configuration([None] * PORTS, senders), 'hosts'), '--duration', f'{us}us'),
            'captures of the same frames', rate(sluiced.Sluiced(bench, yardstick, 'captures')), REACH))
    return rows
