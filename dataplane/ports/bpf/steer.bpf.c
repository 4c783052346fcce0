// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
// The steering program of an XDP port: packets to route and MAC control go to the switch's AF_XDP socket, all
// else stays with the kernel, so that ARP, ping, ssh and routing daemons go on working on the same interface.
//
// It decides by the frame and the machine's own addresses alone; what a malformed or unroutable frame is, the
// switch says. Where no socket listens the kernel gets the frame: a machine whose switch has ended is a host
// again.
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "dataplane/ports/bpf/steer.h"

struct {
    __uint(type, BPF_MAP_TYPE_XSKMAP);
    __uint(max_entries, STEER_MAX_QUEUES);
    __type(key, __u32);
    __type(value, __u32);
} sockets SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, STEER_MAX_PREFIXES);
    __type(key, struct steer_prefix);
    __type(value, __u8);
} local_prefixes SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, steer_counters);
    __type(key, __u32);
    __type(value, __u64);
} verdicts SEC(".maps");

/* Apart from constants of the compiler. */
const volatile struct steer_limits limits SEC(STEER_LIMITS_SECTION) = {0xFFFFFFFF, 0};

struct vlan_tag {
    __be16 tci;
    __be16 type;
};

struct ipv4_header {
    __u8 version_ihl;
    __u8 tos;
    __be16 total_length;
    __be16 identification;
    __be16 fragment;
    __u8 ttl;
    __u8 protocol;
    __be16 checksum;
    __u8 source[4];
    __u8 destination[4];
};

struct ipv6_header {
    __u8 version_class_flow[4];
    __be16 payload_length;
    __u8 next_header;
    __u8 hop_limit;
    __u8 source[16];
    __u8 destination[16];
};

struct udp_header {
    __be16 source_port;
    __be16 destination_port;
    __be16 length;
    __be16 checksum;
};

enum {
    mac_control_type = 0x8808,
    old_qinq_type = 0x9100,
    roce_port = 4791,
    udp_protocol = 17,
    bth_bytes = 12
};

static __always_inline int is_tag(__be16 type) {
    return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD) ||
           type == bpf_htons(old_qinq_type);
}

static __always_inline void count(__u32 counter) {
    __u64* value = bpf_map_lookup_elem(&verdicts, &counter);
    if (value) ++*value; /* this processor's own */
}

static __always_inline int is_local(const struct steer_prefix* address) {
    return bpf_map_lookup_elem(&local_prefixes, address) != 0;
}

/* A whole BTH behind a UDP header of port 4791, within the `bytes` of the packet's payload. */
static __always_inline enum steer_verdict transport(const __u8* at, const __u8* end, __u8 protocol,
                                                    int bytes) {
    const struct udp_header* udp = (const void*)at;
    if (protocol != udp_protocol || bytes < (int)sizeof *udp + bth_bytes || at + sizeof *udp > end)
        return steer_routed;
    return udp->destination_port == bpf_htons(roce_port) ? steer_roce : steer_routed;
}

static __always_inline enum steer_verdict of_ipv4(const __u8* at, const __u8* end) {
    const struct ipv4_header* ip = (const void*)at;
    struct steer_prefix address = {128, {[10] = 0xFF, [11] = 0xFF}};
    int header_bytes;

    if (at + sizeof *ip > end || ip->version_ihl >> 4 != 4 || (ip->version_ihl & 15) < 5)
        return steer_malformed;
    if (ip->destination[0] >> 4 == 14) return steer_group;
    __builtin_memcpy(address.bytes + 12, ip->destination, 4);
    if (is_local(&address)) return steer_local;
    if ((ip->destination[0] == 169 && ip->destination[1] == 254) ||
        (ip->source[0] == 169 && ip->source[1] == 254))
        return steer_link_local;
    if (ip->ttl <= 1) return steer_expired;
    if (ip->fragment & bpf_htons(0x1FFF)) /* not the first of a packet's fragments */
        return steer_routed;
    header_bytes = (ip->version_ihl & 15) * 4;
    return transport(at + header_bytes, end, ip->protocol, bpf_ntohs(ip->total_length) - header_bytes);
}

static __always_inline int is_link_local6(const __u8* address) {
    return address[0] == 0xFE && address[1] >> 6 == 2;
}

static __always_inline enum steer_verdict of_ipv6(const __u8* at, const __u8* end) {
    const struct ipv6_header* ip = (const void*)at;
    struct steer_prefix address = {128, {0}};

    if (at + sizeof *ip > end || ip->version_class_flow[0] >> 4 != 6) return steer_malformed;
    if (ip->destination[0] == 0xFF) return steer_group;
    __builtin_memcpy(address.bytes, ip->destination, 16);
    if (is_local(&address)) return steer_local;
    if (is_link_local6(ip->destination) || is_link_local6(ip->source)) return steer_link_local;
    if (ip->hop_limit <= 1) return steer_expired;
    /* Extension headers are the switch's to walk through: behind one RoCEv2 is counted as routed. */
    return transport(at + sizeof *ip, end, ip->next_header, bpf_ntohs(ip->payload_length));
}

static __always_inline enum steer_verdict verdict_of(const __u8* frame, const __u8* end) {
    const struct ethhdr* ethernet = (const void*)frame;
    const __u8* at = frame + sizeof *ethernet;
    __be16 type;

    if (at > end) return steer_not_ip;
    type = ethernet->h_proto;
    for (int tags = 0; tags < 2; ++tags) {
        const struct vlan_tag* tag = (const void*)at;
        if (!is_tag(type)) break;
        at += sizeof *tag;
        if (at > end) return steer_malformed;
        type = tag->type;
    }
    if (type == bpf_htons(mac_control_type)) return steer_mac_control;
    if (ethernet->h_dest[0] & 1) return steer_group;
    if (is_tag(type)) return steer_malformed;
    if (type == bpf_htons(ETH_P_IP)) return of_ipv4(at, end);
    if (type == bpf_htons(ETH_P_IPV6)) return of_ipv6(at, end);
    return steer_not_ip;
}

static __always_inline int goes_to_switch(enum steer_verdict verdict) {
    enum { to_kernel, to_switch };
    switch (verdict) {
#define STEER_CASE(name, where, what) \
    case steer_##name:                \
        return where;
        STEER_VERDICTS(STEER_CASE)
#undef STEER_CASE
        default:
            return to_kernel;
    }
}

static __always_inline __u32 length_of(struct xdp_md* context) {
    return limits.several_buffers ? (__u32)bpf_xdp_get_buff_len(context) : context->data_end - context->data;
}

SEC("xdp")
int sluice_steer(struct xdp_md* context) {
    const __u8* frame = (const void*)(long)context->data;
    const __u8* end = (const void*)(long)context->data_end;
    const enum steer_verdict verdict = verdict_of(frame, end);
    int action;

    count(verdict);
    if (!goes_to_switch(verdict)) return XDP_PASS;
    action = (int)bpf_redirect_map(&sockets, context->rx_queue_index, XDP_PASS);
    if (action != XDP_REDIRECT) {
        count(steer_no_socket);
    } else if (length_of(context) > limits.longest_frame) {
        count(steer_too_long); /* the socket would count it with those for which its rings have no room */
        action = XDP_DROP;
    }
    return action;
}

char _license[] SEC("license") = "Dual BSD/GPL";
