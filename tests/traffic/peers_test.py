#!/usr/bin/python3
"""Independent readers take sluice-traffic's frames: tshark, an ICRC computed here with zlib, scapy where it is installed.

    peers_test.py SLUICE_TRAFFIC        the binary; the last line is `N passed, N failed`
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "loopback"))

from loopback import read_pcap  # noqa: E402

REAL_CAPTURE = ROOT.parent / "shared" / "captures" / "roce-real.pcap"

OPCODES = {
    "send_first": 0, "send_middle": 1, "send_last": 2, "send_last_immediate": 3, "send_only": 4, "send_only_immediate": 5,
    "write_first": 6, "write_middle": 7, "write_last": 8, "write_last_immediate": 9, "write_only": 10,
    "write_only_immediate": 11, "read_request": 12, "read_response_first": 13, "read_response_middle": 14,
    "read_response_last": 15, "read_response_only": 16, "ack": 17, "atomic_ack": 18, "compare_swap": 19, "fetch_add": 20,
    "send_last_invalidate": 22, "send_only_invalidate": 23,
}
QUANTA = [0, None, None, 65535, 258, None, None, 1]

# All checksums, with the zero that RoCEv2 has over IPv6 too; no guesses about what random payload may be.
TSHARK_OPTIONS = [
    *(part for name in ("ip.check_checksum", "udp.check_checksum", "tcp.check_checksum", "udp.ignore_ipv6_zero_checksum")
      for part in ("-o", f"{name}:TRUE")),
    *(part for name in ("rpcrdma_infiniband", "eth_over_ib", "fc_infiniband", "sdp_infiniband", "iser_infiniband", "lnet_ib",
                        "smb_direct_infiniband", "smcr_infiniband")
      for part in ("--disable-heuristic", name)),
]

HOSTS = """
[host.h0]
mac = "02:00:00:00:00:01"
gateway_mac = "02:00:00:00:ff:01"
ip = ["10.0.0.1", "2001:db8::1"]
[host.h1]
mac = "02:00:00:00:00:02"
ip = ["10.0.1.1", "2001:db8:1::1"]
[host.tagged]
mac = "02:00:00:00:00:03"
ip = ["10.0.2.1", "2001:db8:2::1"]
vlan = [{vid = 200, type = "802.1ad"}, {vid = 10, pcp = 3}]
"""

results = {True: 0, False: 0}


def check(name, good, detail=""):
    results[bool(good)] += 1
    if not good:
        print(f"FAILED {name}: {detail}")


def flow(kind, sender="h0", to="h1", **keys):
    lines = ["[[flow]]", f'kind = "{kind}"', f'from = "{sender}"'] + ([f'to = "{to}"'] if to else [])
    return "\n".join(lines + [f"{key} = {value}" for key, value in keys.items()]) + "\n"


def everything():
    names = json.dumps(list(OPCODES))
    ud = json.dumps(["send_only", "send_only_immediate"])
    flows = []
    for sender in ("h0", "tagged"):
        for version in (4, 6):
            ip = {"ip_version": version}
            flows += [
                flow("roce", sender, opcodes=names, count=46, qps=2, size='"random 60..1500"', **ip),
                flow("roce", sender, opcodes=names, count=23, payload="[1001, 1, 2, 3, 0, 64]", **ip),
                flow("roce", sender, opcodes=ud, transport='"ud"', count=4, ecn='"ce"', **ip),
                flow("cnp", sender, count=3, **ip),
                flow("udp", sender, count=20, size='"random 60..1500"', flows=7, **ip),
                flow("tcp", sender, count=20, size='"random 60..1500"', flows=7, **ip),
            ]
    pfc = "{" + ", ".join(f"{i} = {q}" for i, q in enumerate(QUANTA) if q is not None) + "}"
    flows += [flow("pfc", to=None, pfc=pfc, count=2), flow("pause", to=None, quanta=4660)]
    return HOSTS + "".join(flows)


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)


def generate(traffic, recipe, folder):
    folder.mkdir()
    (folder / "recipe.toml").write_text(recipe)
    result = run(traffic, "generate", folder / "recipe.toml", "--out", folder)
    check("generate", result.returncode == 0, result.stderr)


def find_roce(frame):
    """(start of IP, version, start of UDP, end of IP), for frames without options; None for what is not RoCEv2."""
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    kind, at = frame[at:at + 2], at + 2
    if kind == b"\x08\x00" and frame[at + 9] == 17:
        found = at, 4, at + 20, at + int.from_bytes(frame[at + 2:at + 4], "big")
    elif kind == b"\x86\xdd" and frame[at + 6] == 17:
        found = at, 6, at + 40, at + 40 + int.from_bytes(frame[at + 4:at + 6], "big")
    else:
        return None
    return found if frame[found[2] + 2:found[2] + 4] == b"\x12\xb7" else None


def icrc(frame, ip, version, udp, end):
    covered = bytearray(b"\xff" * 8 + frame[ip:end - 4])
    base = 8 - ip
    masked = [udp + 6, udp + 7, udp + 8 + 4]
    if version == 4:
        masked += [ip + 1, ip + 8, ip + 10, ip + 11]
    else:
        covered[8] |= 0x0F
        masked += [ip + 1, ip + 2, ip + 3, ip + 7]
    for at in masked:
        covered[base + at] = 0xFF
    return struct.pack("<I", zlib.crc32(covered))


def check_icrcs(frames):
    count = 0
    for _, _, frame in frames:
        place = find_roce(frame)
        if place is None:
            continue
        count += 1
        end = place[3]
        check("ICRC", icrc(frame, *place) == frame[end - 4:end], frame.hex())
        check("UDP checksum of RoCEv2 is 0", frame[place[2] + 6:place[2] + 8] == b"\0\0", frame.hex())
        flipped = bytearray(frame)
        flipped[end - 5] ^= 0x10
        check("a flipped bit breaks the ICRC", icrc(bytes(flipped), *place) != frame[end - 4:end], frame.hex())
    return count


def tshark(capture, display_filter, *fields):
    command = ["tshark", "-r", capture, *TSHARK_OPTIONS, "-Y", display_filter, "-T", "fields"]
    for field in fields:
        command += ["-e", field]
    result = run(*command)
    check(f"tshark reads {display_filter}", result.returncode == 0, result.stderr)
    return [line.split("\t") for line in result.stdout.splitlines()]


def check_counts(capture, expected):
    """How many frames each display filter finds, in one run of tshark."""
    result = run("tshark", "-r", capture, *TSHARK_OPTIONS, "-q", "-z", "io,stat,0," + ",".join(expected))
    rows = [line for line in result.stdout.splitlines() if "<>" in line]
    counts = [int(cell) for cell in rows[0].split("|")[2:-1:2]] if rows else []
    check("tshark counts", len(counts) == len(expected), result.stderr + result.stdout)
    for (display_filter, wanted), count in zip(expected.items(), counts):
        check(f"tshark: {display_filter}", count == wanted, f"{count} frames, not {wanted}")


def check_tshark(capture, versions_of_opcodes, total):
    rows = tshark(capture, "infiniband", "infiniband.bth.opcode")
    seen = {}
    for row in rows:
        seen[int(row[0])] = seen.get(int(row[0]), 0) + 1
    check("tshark sees every RoCEv2 frame as InfiniBand", len(rows) == total, f"{len(rows)} of {total}")
    for name, opcode in OPCODES.items():
        check(f"tshark sees {name}", seen.get(opcode, 0) >= versions_of_opcodes * 3, seen)
    check("tshark sees UD", seen.get(0x64) == seen.get(0x65) == 4, seen)
    # tshark 4.0 knows no CNP by name: opcode 129, BECN in what it calls reserved.
    cnps = tshark(capture, "infiniband.bth.opcode == 129", "ip.dsfield.dscp", "ipv6.tclass.dscp", "infiniband.bth.destqp")
    check("tshark sees CNPs", len(cnps) == 6 and all("48" in row for row in cnps), cnps)
    check_counts(capture, {"_ws.malformed": 0, "ip.checksum.status == 0": 0, "udp.checksum.status == 0": 0,
                           "tcp.checksum.status == 0": 0, "_ws.expert.severity == error": 0, "infiniband": total,
                           "udp.dstport == 9 && udp.checksum.status == 1": 40, "tcp.checksum.status == 1": 40})
    pads = tshark(capture, "infiniband.bth.padcnt > 0", "infiniband.bth.padcnt")
    check("tshark sees pads of 1, 2 and 3", {row[0] for row in pads} == {"1", "2", "3"}, pads)


def check_mac_control(capture):
    fields = ["frame.len", "macc.cbfc.enbv"] + [f"macc.cbfc.pause_time.c{i}" for i in range(8)]
    rows = tshark(capture, "macc.opcode == 0x0101", *fields)
    expected = ["60", "0x0099"] + [str(q or 0) for q in QUANTA]
    check("tshark reads PFC", rows == [expected, expected], rows)
    check("tshark reads PAUSE", tshark(capture, "macc.opcode == 1", "frame.len", "macc.pause_time") == [["60", "4660"]])
    check("tshark finds PFC in order", not tshark(capture, "macc.opcode.unknown || macc.cbfc.enbv.not_zero || macc.dst_address_invalid",
                                                  "frame.number"))


def check_scapy(frames):
    try:
        from scapy.contrib.mac_control import MACControlClassBasedFlowControl
        from scapy.contrib.roce import BTH
        from scapy.layers.inet import IP, UDP
        from scapy.layers.l2 import Ether
    except ImportError:
        print("skipped: scapy is not installed for this python3")
        return
    count = 0
    for _, _, data in frames:
        frame = Ether(data)
        if MACControlClassBasedFlowControl in frame:
            pfc = frame[MACControlClassBasedFlowControl]
            quanta = [getattr(pfc, f"c{i}_pause_time") for i in range(8)]
            enabled = [bool(getattr(pfc, f"c{i}_enabled")) for i in range(8)]
            check("scapy reads PFC", quanta == [q or 0 for q in QUANTA] and enabled == [q is not None for q in QUANTA], frame)
        # scapy 2.5 computes the ICRC of IPv4 without tags in the way.
        if IP in frame and UDP in frame and frame[UDP].dport == 4791 and data[12:14] == b"\x08\x00":
            count += 1
            place = find_roce(data)
            carried = data[place[3] - 4:place[3]]
            bth = BTH(bytes(frame[UDP].payload)[:place[3] - place[2] - 8])
            frame[UDP].remove_payload()
            frame = frame / bth
            computed = frame[BTH].compute_icrc(bytes(frame[BTH])[:-4])
            check("scapy computes the same ICRC", computed == carried, f"{computed.hex()} {carried.hex()}")
    check("scapy saw RoCEv2", count > 50, count)


def check_times(frames):
    """Never before the frame ahead has ended, at 100 Gb/s (80 ps a byte, 24 bytes of overhead); rounded down."""
    free_ps = 0
    for at_ns, length, _ in frames:
        check("no frame starts too early", at_ns * 1000 + 999 >= free_ps, at_ns)
        free_ps = max(free_ps, at_ns * 1000) + (length + 24) * 80


def check_malformed(traffic, folder):
    flows = "".join(flow("malformed", variant='"all"', count=count, ip_version=version, size=400)
                    for version, count in ((4, 27), (6, 23)))
    generate(traffic, HOSTS + flows, folder)
    capture = folder / "h0.pcap"
    frames = read_pcap(capture)
    check("one frame of each variant", len(frames) == 50, len(frames))
    expected = {"ip.version == 4 && ip.ttl == 0": 1, "ipv6.hlim == 0": 1, "ip.ttl == 1": 1, "arp": 1, "lldp": 2, "frame.len < 60": 1,
                "frame.len > 9400": 2, "frame.cap_len < frame.len": 2, "ip.checksum.status == 0": 1, "eth.type == 0x88b5": 2,
                "ip.src == 127.0.0.1": 1, "ip.flags.mf == 1": 1, "ipv6.fraghdr": 1, "ip.opt.type": 1, "ipv6.hopopts": 2,
                "eth.dst == ff:ff:ff:ff:ff:ff && ip": 1, "eth.src.ig == 1": 2}
    check_counts(capture, expected)
    result = run(traffic, "verify", "--json", capture)
    check("verify finds the bad ICRCs", result.returncode == 1 and json.loads(result.stdout)["icrc_bad"] == 2, result.stdout)


def check_split(traffic, capture, folder):
    result = run(traffic, "split", capture, "--out", folder / "loop")
    check("split", result.returncode == 0, result.stderr)
    inputs = sorted((folder / "loop" / "in").iterdir())
    frames = [frame for file in inputs for frame in read_pcap(file)]
    check("split keeps every frame", sorted(frames) == sorted(read_pcap(capture)), len(frames))


def check_real(traffic):
    if not REAL_CAPTURE.exists():
        print("skipped: no real RoCEv2 capture beside the repository")
        return
    result = run(traffic, "verify", "--json", REAL_CAPTURE)
    counts = json.loads(result.stdout or "{}")
    check("the ICRCs of a real capture verify", result.returncode == 0 and counts.get("icrc_good", 0) > 100, result)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    traffic = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        generate(traffic, everything(), folder / "all")
        for host in ("h0", "tagged"):
            capture = folder / "all" / f"{host}.pcap"
            frames = read_pcap(capture)
            roce = check_icrcs(frames)
            check("every RoCEv2 frame was checked", roce == 2 * (46 + 23 + 4 + 3), roce)
            check_tshark(capture, 2, roce)
            check_times(frames)
        capture = folder / "all" / "h0.pcap"
        check_mac_control(capture)
        check_scapy(read_pcap(capture))
        result = run(traffic, "verify", "--json", capture)
        counts = json.loads(result.stdout)
        check("verify agrees", (counts["icrc_good"], counts["icrc_bad"], counts["cnp"], counts["pfc"], counts["ce"]) == (152, 0, 6, 2, 8),
              counts)
        check_split(traffic, capture, folder)
        check_malformed(traffic, folder / "malformed")
    check_real(traffic)
    print(f"{results[True]} passed, {results[False]} failed")
    sys.exit(1 if results[False] else 0)


if __name__ == "__main__":
    main()
