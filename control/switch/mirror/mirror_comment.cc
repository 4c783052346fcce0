#include "control/switch/mirror/mirror_comment.hh"

#include <fmt/format.h>

#include <iterator>

#include "lib/pfc/pfc_frame.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

std::string pause_text(const PauseMap& map) {
    std::string off, quanta, on;
    for_each_class(map.class_enable, [&](ClassId n) {
        std::string& list = map.quanta[n] != 0 ? off : on;
        if (!list.empty()) list += ',';
        list += std::to_string(n);
        if (map.quanta[n] == 0) return;
        if (!quanta.empty()) quanta += ',';
        quanta += std::to_string(map.quanta[n]);
    });
    std::string text;
    if (!off.empty()) text += fmt::format(" xoff={} quanta={}", off, quanta);
    if (!on.empty()) text += " xon=" + on;
    return text;
}

void add_packet(std::string& text, const MirrorHead& head, const std::vector<std::string>& ports) {
    const auto out = std::back_inserter(text);
    fmt::format_to(out, " ingress={}", ports[head.ingress]);
    if (head.egress != no_port) fmt::format_to(out, " egress={} queue={}", ports[head.egress], head.queue);
    for_each_class(head.of_classes, [&](ClassId n) { fmt::format_to(out, " class={}", n); });
    fmt::format_to(out, " lossless={} sequence={}", head.lossless ? "yes" : "no", head.sequence);
}

}  // namespace

std::string mirror_comment(const MirrorHead& head, std::span<const std::uint8_t> frame,
                           const std::vector<std::string>& ports) {
    std::string text;
    switch (head.event) {
        case MirrorEvent::drop:
            text = fmt::format("drop reason={}", to_string(head.reason));
            add_packet(text, head, ports);
            break;
        case MirrorEvent::delay:
            text = fmt::format("delay waited_ns={}", head.waited.ps / 1000);
            add_packet(text, head, ports);
            break;
        case MirrorEvent::pause: {
            const bool sent = head.egress != no_port;
            text = fmt::format("pause {} port={}{}", sent ? "sent" : "received",
                               ports[sent ? head.egress : head.ingress],
                               pause_text(decode_mac_control(frame, {}).map));
            break;
        }
    }
    fmt::format_to(std::back_inserter(text), " at_ns={}", head.at.ps / 1000);
    if (head.event == MirrorEvent::drop)
        fmt::format_to(std::back_inserter(text), ": {}",
                       drop_reason_texts[static_cast<std::size_t>(head.reason)].sentence);
    return text;
}

}  // namespace sluice
