/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* What the steering program and the switch have in common. Read as C by clang for BPF, and as C++. */
#ifndef SLUICE_BPF_STEER_H
#define SLUICE_BPF_STEER_H

/* The catalogue of verdicts: V(name, where the frame goes, what it is), in the order of the checks. */
#define STEER_VERDICTS(V)                                                                   \
    V(mac_control, to_switch, "MAC control: PFC and PAUSE")                                 \
    V(roce, to_switch, "RoCEv2 (UDP 4791) to be routed")                                    \
    V(routed, to_switch, "other unicast IP to be routed")                                   \
    V(malformed, to_switch, "IP whose header cannot be read: the switch counts its reason") \
    V(group, to_kernel, "broadcast and multicast, of MAC or IP")                            \
    V(not_ip, to_kernel, "neither IPv4 nor IPv6: ARP, LLDP and others")                     \
    V(local, to_kernel, "addressed to this machine")                                        \
    V(link_local, to_kernel, "from or to a link-local address")                             \
    V(expired, to_kernel, "TTL or hop limit is 0 or 1: the kernel answers")

enum steer_verdict {
#define STEER_NAME(name, where, what) steer_##name,
    STEER_VERDICTS(STEER_NAME)
#undef STEER_NAME
    /* Counted beside its verdict: it was to go to the switch, which does not listen at its queue. */
    steer_no_socket,
    /* Likewise: longer than the socket takes, and lost. */
    steer_too_long,
    steer_counters,
};

/* Set before the program is loaded. */
struct steer_limits {
    unsigned int longest_frame;
    unsigned int several_buffers; /* frames may lie in several, since Linux 5.18 */
};

/* The first bits of an address as IPv6 has it; IPv4 is mapped (RFC 4291 2.5.5.2). */
struct steer_prefix {
    unsigned int bits;
    unsigned char bytes[16];
};

/* Names of the maps as the kernel keeps them, at most 15 characters. */
#define STEER_PROGRAM "sluice_steer"
#define STEER_SOCKET_MAP "sockets"
#define STEER_LOCAL_MAP "local_prefixes"
#define STEER_COUNTER_MAP "verdicts"
#define STEER_LIMITS_SECTION ".rodata.limits"

#define STEER_MAX_QUEUES 64
#define STEER_MAX_PREFIXES 4096

#endif
