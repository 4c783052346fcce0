#!/bin/bash
# Proof that the system tests can fail: each mutation is one small wrong change of the switch, built in a copy; a
# mutation that the tests do not notice is a failure. Takes minutes: run by hand, or for a long run.
#   tests/sim/mutations.sh [NAME...]
#   tests/sim/mutations.sh --apply     only whether each still changes its line, which tools/check asks, too
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dry=false
if [[ ${1:-} == --apply ]]; then dry=true; shift; fi
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
jobs=${JOBS:-$(nproc)}
limit_s=${LIMIT_S:-300}
wanted=("$@")
survived=0

(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy")
cd "$copy"

program=tests/sim/sim_test  # whose tests must notice
build() { ninja -C build -j "$jobs" "$program" >build.log 2>&1; }
tests_pass() { timeout "$limit_s" "build/$program" >test.log 2>&1; }
# From here on that program's tests: without a mutation they pass.
tested_by() {
    program=$1
    $dry && return 0
    build || { tail -30 build.log; exit 1; }
    tests_pass || { tail -30 test.log; echo "the tests of $program fail without any mutation"; exit 1; }
    echo "without a mutation: the tests of $program pass"
}

if ! $dry; then
    meson setup build -Db_lto=false -Doptimization=0 -Dwerror=false >setup.log 2>&1 || { cat setup.log; exit 1; }
fi

# mutate NAME FILE SED: a fault that the tests must notice
mutate() {
    local name=$1 file=$2 expression=$3
    [[ ${#wanted[@]} -eq 0 || " ${wanted[*]} " == *" $name "* ]] || return 0
    cp -p "$file" original
    sed -i "$expression" "$file"
    if cmp -s original "$file"; then
        echo "$name: does not apply to $file any more"
        survived=$((survived + 1))
    elif $dry; then
        :
    elif ! build; then
        echo "$name: does not build"
        tail -5 build.log
        survived=$((survived + 1))
    elif tests_pass; then
        echo "$name: NOT NOTICED"
        survived=$((survived + 1))
    else
        echo "$name: caught by $(grep -ohE 'Failure in TEST\([A-Za-z]+, [A-Za-z0-9]+\)' test.log | sed 's/Failure in //' | sort -u |
            tr '\n' ' ' | grep . || echo 'a crash or the time limit')"
    fi
    cp original "$file"
}

tested_by tests/sim/sim_test
mutate drop-keeps-cells dataplane/path/drop.hh 's/if (info.cells != 0)/if (info.cells == 1)/'
mutate departure-keeps-cells dataplane/path/egress_pass.hh 's/releases.post(\(.*\), cells)/releases.post(\1, cells - (cells > 30))/'
mutate passed-unmarked dataplane/path/egress_pass.cc 's/most_behind >= unmarked_below/most_behind > 1000000 + unmarked_below/'
mutate passed-by-the-first-kind dataplane/path/egress_pass.cc 's/kinds \&= kinds - 1/kinds = 0/'
mutate passed-into-a-full-ring dataplane/path/egress_pass.cc 's/can_start_all(now, all)/can_start_all(now, 0)/'
mutate passed-late dataplane/path/egress_pass.cc 's/here.start = here.start + byte_time/here.start = here.start + Duration{1} + byte_time/'
mutate passed-at-once dataplane/path/egress_pass.cc 's/count_taken(port.counters, number, \(.*\), {}, /count_taken(port.counters, number, \1, Duration{1000}, /'
mutate passed-while-held dataplane/path/egress_pass.hh 's/own.held == 0/(own.held == 0 || true)/'
mutate passed-while-paused dataplane/path/egress_pass.hh 's/!is_watched(port)/(!is_watched(port) || true)/'
mutate passed-without-rates dataplane/path/egress_pass.hh 's/!port.scheduler.has_rates()/(!port.scheduler.has_rates() || true)/'
mutate passed-ahead-of-queues dataplane/path/egress_pass.hh 's/port.backlog == 0 /(port.backlog == 0 || true) /'
mutate passed-beyond-a-quantum lib/scheduler.hh 's/(wire_bytes\[queue\]) > quantum_\[queue\])/(wire_bytes[queue]) > 2 * quantum_[queue])/'
mutate passed-without-a-turn lib/scheduler.hh 's/turn_ = queue = behind(last/queue = behind(last/'
mutate emptied-queue-owes dataplane/path/egress.cc 's/        port.scheduler.sent(next, on_wire, now);//; s/        ready = static_cast/        port.scheduler.sent(next, on_wire, now);\n&/'
mutate refresh-late lib/pfc_generator.cc 's|settings.quanta / 2;|settings.quanta;|'
mutate pause-ends-early lib/pfc_honor.cc 's/quantum \* map.quanta\[n\]/quantum * (map.quanta[n] - 1)/'
mutate headroom-without-reaction lib/headroom.cc 's/h.obeying_bytes() +/h.obeying_bytes() - h.reaction_bytes +/'
mutate headroom-without-frame lib/headroom.cc 's/2 \* h.frame_cells + h.mix_cells/h.frame_cells + h.mix_cells/'
mutate down-port-still-pauses dataplane/run/worker.cc 's/port.generator.reset(now);//'
mutate merge-by-sequence dataplane/run/virtual_runner.cc 's/return a.ingress_port != b.ingress_port ? .*/return a.sequence < b.sequence;/'
mutate judged-before-release dataplane/run/virtual_runner.cc 's/    judge_groups(\*all.ports\[id\].owner, port, now);//'
mutate moved-cells-unjudged dataplane/run/virtual_runner.cc 's/                ++all.moves;//'
mutate becoming-lossless-unjudged dataplane/run/worker.cc 's/groups_in_use = port->groups_judged = 0xFF/groups_in_use = 0xFF/'
mutate change-in-one-step control/switch/limit_change.cc 's/to.ports\[i\].group\[n\] = tightest(.*/static_cast<void>(from);/; s/to.ingress_pools\[n\] = tightest(.*/static_cast<void>(n);/'
mutate change-finished-at-once control/switch/limit_change.cc 's/if (pending_cells() > 0)/if (false)/'
mutate change-waits-for-the-tightest control/switch/limit_change.cc 's/const GroupLimits\& next = awaited_->ports\[id\].group\[n\];/const GroupLimits\& next = device_.policy().ports[id].group[n];/; s/pending_cells(awaited_->ingress_pools\[n\]/pending_cells(device_.policy().ingress_pools[n]/'
mutate becoming-lossless-not-held lib/priority_group.hh 's/ \&\& !limits.changing;/;/'
mutate becoming-lossless-stays-lossy control/switch/limit_change.cc 's/limits.lossless = limits.changing = true;//'
mutate becoming-lossless-without-free-headroom control/switch/limit_change.cc 's/const std::int64_t given = own ? .*/const std::int64_t given = 0;/'
mutate becoming-lossless-takes-what-is-not-free control/switch/limit_change.cc 's/const std::int64_t given = own ? .*/const std::int64_t given = missing;/'
mutate becoming-lossless-let-go-by-the-link dataplane/run/worker.cc 's/    if (up) {/    if (up \&\& port.pause_peer) {/'
mutate reserve-cut-stays-reserved lib/priority_group.hh 's/if (reserved_.get() <= limits.reserved_cells) return;/if (reserved_.get() < 1U << 31) return;/'
mutate moving-group-takes-more control/switch/limit_change.cc 's/limits.threshold = Threshold::fixed(0);//'
mutate moving-group-keeps-nothing control/switch/limit_change.cc 's/if (from.ports\[i\].group\[n\].pool != overtaken/if (false \&\& from.ports[i].group[n].pool != overtaken/'
mutate group-moves-at-once control/switch/limit_change.cc 's/to.ports\[i\].group\[n\].pool = from.*;//'
mutate move-unaccounted control/switch/limit_change.cc 's/to.shared += group.shared_cells();//'
mutate held-queue-sends dataplane/path/egress.cc 's/port.backlog \& ~policy.held \&/port.backlog \&/'
mutate lossless-limited-on-egress lib/egress_queue_use.hh 's/limits.threshold, !limits.lossless, pool/limits.threshold, true, pool/'
mutate one-cell-too-many-shared lib/buffer_limits.hh 's/used_cells <= limit_cells(free_cells, used_cells);/used_cells <= limit_cells(free_cells, used_cells) + 1;/'
mutate one-cell-too-many-headroom lib/priority_group.hh 's/headroom_.get() + cells > limits.headroom_cells/headroom_.get() + cells > limits.headroom_cells + 1/'
mutate shared-released-first lib/priority_group.hh 's/const std::uint32_t from_headroom = std::min(cells, headroom_.get());/const std::uint32_t from_headroom = std::min(cells - std::min(cells, shared_.get()), headroom_.get());/'
mutate xon-without-offset lib/priority_group.hh 's/limit - limits.xon_offset_cells/limit/'
mutate shared-while-off lib/priority_group.hh 's/if (pause() == Pause::none \&\& admit_shared/if (admit_shared/'
mutate watchdog-counts-unpaused-as-paused lib/pfc_watchdog.cc 's/return open < to ? to - open : Duration{};/static_cast<void>(to); return open < from ? to - open : Duration{};/'
mutate watchdog-blind-to-progress lib/pfc_watchdog.cc 's/if (sample.sent != queue.sent || !sample.holds_packets ||/if (!sample.holds_packets ||/'
mutate watchdog-xon-keeps-the-storm dataplane/path/watchdog.cc 's/sample.xoffs += port.honor.counters(n).rx_xoff.get();/sample.xoffs += port.honor.counters(n).rx_xoff.get() + port.honor.counters(n).rx_xon.get();/'
mutate watchdog-new-restoration-in-a-storm lib/pfc_watchdog.hh 's/{ settings_ = settings; }/{ settings_ = settings; for (Queue\& queue : queues_) queue.restoration = settings.restoration; }/'
mutate watchdog-drop-still-sends-pfc dataplane/path/watchdog.cc 's/watchdog.mutes = static_cast<std::uint8_t>(watchdog.mutes | priorities);//'
mutate watchdog-drop-keeps-the-pause-asserted dataplane/path/watchdog.cc 's/port.generator.reset(now, priorities);//'
mutate watchdog-silent-after-the-storm dataplane/path/watchdog.cc 's/if (port.group\[n\].in_xoff()) port.want_xoff/if (port.group[n].in_xoff() \&\& port.pause_peer) port.want_xoff/'
mutate watchdog-drops-the-neighbor dataplane/path/watchdog.cc 's/watchdog.discards = static_cast<std::uint8_t>(watchdog.discards | 1U << queue);/watchdog.discards = static_cast<std::uint8_t>(watchdog.discards | 3U << queue);/'
mutate watchdog-storm-outlives-the-link dataplane/run/worker.cc 's/watch_link_down(worker, port, now);//'
mutate watchdog-obeys-in-a-storm dataplane/path/watchdog.cc 's/port.honor.suspend(now, priorities);//'
mutate watchdog-forgets-the-pause-of-a-cut lib/pfc_honor.cc 's/for_each_class(running, \[\&\](ClassId n) { step(n, PauseEvent::xoff, now, deadline_\[n\]); });/static_cast<void>(running);/'
mutate watchdog-overrun-is-the-headrooms dataplane/path/port_watchdog.hh 's/if ((mutes >> group \& 1U) == 0) return false;/if ((mutes >> group \& 1U) != 2) return false;/'
mutate pause-blames-what-left dataplane/path/egress_pass.hh 's/if ((observed \& observed_fill) != 0)/if (observed == 77)/'
mutate pause-blames-what-was-dropped dataplane/path/decisions.cc 's/    if (is_counted(info)) {/    if (is_counted(info) \&\& info.cells == 9999) {/'
mutate record-of-limit-before-packet dataplane/path/decisions.cc 's/limit_with(pool.free_cells, numbers_.shared, cells)/limit_cells(pool.free_cells, numbers_.shared)/'
mutate record-of-every-headroom-packet-as-first dataplane/path/decisions.cc 's/group.in_xoff() \&\& !numbers_.in_xoff/group.in_xoff()/'
mutate record-begun-in-a-full-ring dataplane/path/decisions.cc 's/if (post(worker, key_of(info), info.arrival, arrived))/if (post(worker, key_of(info), info.arrival, arrived) || true)/'
mutate burst-without-drops dataplane/path/egress.cc '0,/port.queue\[queue\].microburst.dropped();/s///'

tested_by tests/fabric/fabric_test
mutate link-forgets-pfc dataplane/peers/link_port.cc 's/    Line& line = is_pause ? pauses_ : data_;/    if (is_pause) return rte_pktmbuf_free(packet);\n&/'
mutate link-obeys-at-once dataplane/peers/link_port.cc 's/ + spec.peer_reaction)/)/'
mutate link-without-propagation dataplane/peers/link_port.cc 's/const Time arrival = departure + spec_.cable + /const Time arrival = departure + /'
mutate link-hands-over-at-the-first-bit tools/fabric/run/fabric_ports.cc 's/spec.at_end = true;//'
mutate link-loses-uncounted dataplane/peers/link_port.cc 's/lost_ += lose(data_, std::nullopt) + lose(pauses_, std::nullopt);/lose(data_, std::nullopt), lose(pauses_, std::nullopt);/'
mutate fault-port-is-not-told dataplane/peers/fault_port.hh 's/inner_->stand_in(\*this);//'
mutate cut-keeps-what-a-fault-holds dataplane/peers/link_port.cc 's/if (outer() != nullptr) outer()->cable_cut(is_cut);//'
mutate host-gets-what-is-on-a-cut-cable dataplane/peers/peer_port.hh 's/source_.link_lost(now);//'
mutate overrun-is-delivered tools/fabric/run/ledger.cc 's/ - port.overrun()//'
mutate bad-frame-is-received dataplane/peers/fault_port.cc 's/if (fate.drop || fate.bad_fcs) {/if (fate.drop) {/'
mutate route-cycles tools/fabric/plan/routing.cc 's/distance_\[next\] + 1 != distance_\[node\])/distance_[next] + 1 < distance_[node])/'

tested_by tests/fabric/fabric_threads_test
mutate window-is-longer-than-a-cable tools/fabric/run/thread_plan.cc 's/return std::min(shortest, longest_window);/return shortest * 4;/'

if [[ $survived -ne 0 ]]; then
    $dry || echo "$survived mutations were not caught"
    exit 1
fi
$dry || echo "every mutation was caught"
