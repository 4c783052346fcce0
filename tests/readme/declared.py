"""The one table of the blocks that the test does not run each time, by README and first command: why, and whether `--long` runs them.

A block that is neither run nor here fails the test, and so does an entry without its block. What may change the machine must be here:
sessions that are run know no other programs than ours and a shell's plain words (sessions.py). Lists of commands without output are read and
not run; of the gate for CI all steps are run but the installation, which takes root and minutes.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Declared:
    reason: str
    long: bool = False   # as root with SLUICE_LONG=1, in namespaces of its own, its figures masked


NAMESPACES = "interfaces and namespaces of the kernel; tests/netns/{} does it"
LAB = "root, namespaces and seconds of real time"

DECLARED = {
    ("README.md", "tools/package && apt install ./out/package/sluice_*.deb"): Declared("root, minutes; tests/packaging/package_test.py does it with --long"),
    ("README.md", "sluice-fabric advise --ports 32 --speed 400G --buffer 64MB --cable 100m --incast 16 --out out/advice --jobs 2"):
        Declared("a minute of processor time", long=True),
    ("control/switch/kernel/manual.md", "build/sluiced --config conf/kernel.toml --socket out/sluice.sock &"): Declared(NAMESPACES.format("kernel_test.py")),
    ("control/switch/kernel/manual.md", "ip address add 10.0.1.1/24 dev h1"): Declared(NAMESPACES.format("tap_test.py")),
    ("dataplane/README.md", "sluicectl worker meter on; sleep 4; sluicectl worker show"):
        Declared("cycles of a quiet machine under tools/bench's load; tests/control/workers_test.py has the command"),
    ("dataplane/ports/README.md", "ip -force link set dev p0 xdp obj other.o sec xdp; sleep 10; ip link set dev p0 xdp off"):
        Declared(NAMESPACES.format("owner_test.py")),
    ("dataplane/ports/README.md", "ip link delete eth2"): Declared(NAMESPACES.format("recovery_test.py")),
    ("dataplane/ports/README.md", "modprobe vfio-pci; dpdk-devbind.py --status-dev net"): Declared("real cards: drivers of the kernel, hugepages"),
    ("dataplane/ports/README.md", "build/sluiced --config nic.toml"): Declared("real cards; tests/unit/nic has the sentences"),
    ("dataplane/ports/README.md", "sluicectl port show h0"): Declared("a flood under the real clock, no two alike; tests/unit/nic has queues"),
    ("tools/fabric/manual.md", "cd control/report/page/vendor && npm install && npm run build"):
        Declared("the network: npm's registry; tests/loopback/page_test.py does it with --long"),
    ("tools/sluicectl/README.md", "sluicectl top"): Declared("a screen, until a key; tests/control/top_test.py has a terminal for it"),
    ("tools/workshop/topology/README.md", "tools/lab up one"): Declared(LAB, long=True),
    ("tools/workshop/topology/README.md", "tools/lab up pair"): Declared(LAB, long=True),
    ("tools/workshop/benchmarks/lab.md", "tools/lab up one"): Declared(LAB, long=True),
    ("tools/workshop/benchmarks/lab.md", "tools/lab dcqcn"): Declared(LAB, long=True),
    ("tools/workshop/benchmarks/lab.md", "tools/lab up fabric"): Declared(LAB, long=True),
}
