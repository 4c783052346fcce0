/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* What the observer program and the test that runs it have in common. Read as C by clang for BPF, and as C++.
 */
#ifndef SLUICE_TESTS_OBSERVE_H
#define SLUICE_TESTS_OBSERVE_H

enum observed_kind { observed_other, observed_ip, observed_pfc };

/* A frame at an interface, as the kernel's monotonic clock saw it. Numbers are in host order. */
struct observed {
    unsigned long long time_ns;
    unsigned int interface;
    unsigned int bytes;      /* of the frame, without FCS */
    unsigned short udp_port; /* destination; 0: not UDP, or not IPv4 */
    unsigned short quanta[8];
    unsigned char kind;
    unsigned char outgoing; /* 1: the interface's owner has sent it */
    unsigned char tos;      /* of IP: DSCP and ECN */
    unsigned char classes;  /* of PFC: the class-enable vector */
};

#define OBSERVE_RING_BYTES (1 << 23)

#endif
