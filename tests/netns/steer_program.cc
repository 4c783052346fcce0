#include "tests/netns/steer_program.hh"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>

namespace sluice {

Program::Program() {
    silence_libbpf();
    const SteerObject object = steer_object();
    object_ = bpf_object__open_mem(object.bytes, object.size, nullptr);
    if (object_ == nullptr || bpf_object__load(object_) != 0) {
        why_ = std::string("the kernel loads no BPF program here: ") + std::strerror(errno);
        return;
    }
    program_ = bpf_program__fd(bpf_object__next_program(object_, nullptr));
    counters_ = bpf_object__find_map_fd_by_name(object_, STEER_COUNTER_MAP);
    local_ = bpf_object__find_map_fd_by_name(object_, STEER_LOCAL_MAP);
}

Program::~Program() { bpf_object__close(object_); }

bool Program::add_local(const IpPrefix& prefix) const {
    const steer_prefix key = Steering::key_of(prefix);
    const std::uint8_t present = 1;
    return bpf_map_update_elem(local_, &key, &present, BPF_ANY) == 0;
}

bool Program::run(std::span<const std::uint8_t> frame) const {
    bpf_test_run_opts options{};
    options.sz = sizeof options;
    options.data_in = frame.data();
    options.data_size_in = static_cast<std::uint32_t>(frame.size());
    options.repeat = 1;
    return bpf_prog_test_run_opts(program_, &options) == 0 && options.retval == XDP_PASS;
}

SteerCounts Program::counters() const { return read_counts(counters_); }

}  // namespace sluice
