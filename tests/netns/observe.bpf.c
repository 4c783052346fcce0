// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
// The observer: a socket filter that writes down each frame at an interface, both ways, with the kernel's
// time, and lets none through to its socket. To tests it is a clock that is not the switch's own.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tests/netns/observe.h"

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, OBSERVE_RING_BYTES);
} frames SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} lost SEC(".maps");

enum { mac_control_type = 0x8808, pfc_opcode = 0x0101, udp_protocol = 17 };

struct pfc {
    __be16 opcode;
    __be16 classes;
    __be16 quanta[8];
};

static __always_inline void read_pfc(struct __sk_buff* frame, struct observed* out) {
    struct pfc pfc;
    if (bpf_skb_load_bytes(frame, ETH_HLEN, &pfc, sizeof pfc) != 0 || pfc.opcode != bpf_htons(pfc_opcode))
        return;
    out->kind = observed_pfc;
    out->classes = (__u8)bpf_ntohs(pfc.classes);
    for (int n = 0; n < 8; ++n) out->quanta[n] = bpf_ntohs(pfc.quanta[n]);
}

static __always_inline void read_ipv4(struct __sk_buff* frame, struct observed* out) {
    __u8 header[20];
    __be16 port;
    if (bpf_skb_load_bytes(frame, ETH_HLEN, header, sizeof header) != 0) return;
    out->kind = observed_ip;
    out->tos = header[1];
    if (header[9] == udp_protocol &&
        bpf_skb_load_bytes(frame, ETH_HLEN + (header[0] & 15) * 4 + 2, &port, sizeof port) == 0)
        out->udp_port = bpf_ntohs(port);
}

static __always_inline void read_ipv6(struct __sk_buff* frame, struct observed* out) {
    __u8 header[2];
    if (bpf_skb_load_bytes(frame, ETH_HLEN, header, sizeof header) != 0) return;
    out->kind = observed_ip;
    out->tos = (__u8)(header[0] << 4 | header[1] >> 4);
}

SEC("socket")
int sluice_observe(struct __sk_buff* frame) {
    struct observed* out = bpf_ringbuf_reserve(&frames, sizeof *out, 0);
    __be16 type;
    if (!out) {
        __u32 first = 0;
        __u64* count = bpf_map_lookup_elem(&lost, &first);
        if (count) __sync_fetch_and_add(count, 1);
        return 0;
    }
    __builtin_memset(out, 0, sizeof *out);
    out->time_ns = bpf_ktime_get_ns();
    out->interface = frame->ifindex;
    out->bytes = frame->len;
    out->outgoing = frame->pkt_type == PACKET_OUTGOING;
    if (bpf_skb_load_bytes(frame, 12, &type, sizeof type) == 0) {
        if (type == bpf_htons(mac_control_type)) read_pfc(frame, out);
        if (type == bpf_htons(ETH_P_IP)) read_ipv4(frame, out);
        if (type == bpf_htons(ETH_P_IPV6)) read_ipv6(frame, out);
    }
    bpf_ringbuf_submit(out, 0);
    return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
