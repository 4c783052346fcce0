// The question without a workload: from a few words about a switch, "32 ports of 400G, 64 MB, 100 m, incasts
// of 16", the text of a fabric's file that asks which marking thresholds it should have.
//
// The switch is a star with a host at every port, for idle ports need headroom, too. As many incasts as there
// are ports for run at once, each to a receiver of its own, for ever. Beside each, a probe of small messages
// from an idle host to the receiver feels the queue, and a bystander from the incast's first sender to the
// idle host feels pauses. Hosts have DCQCN. Headroom is left to the switch, which computes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/command_line.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {

// Left out: `like` says it, or as question_options says.
struct Question {
    std::optional<unsigned> ports;
    std::optional<Rate> speed;
    std::optional<std::uint64_t> buffer_bytes;
    std::optional<std::uint32_t> cable_m;
    std::optional<unsigned> incast;  // senders of one incast
    std::uint64_t message_bytes = 1'000'000;
    std::optional<std::uint32_t> mtu;  // payload of a packet of the hosts, in bytes
    std::string profile;               // of the buffer
    std::optional<std::uint32_t> cell_bytes;
    std::optional<unsigned> lossless_classes;
    std::string like;  // a file of sluiced

    // True when the command line has one of the options.
    bool is_asked() const { return *this != Question{}; }
    bool operator==(const Question&) const = default;
};

// The command line's options, which keep to the ranges of single values. `question` outlives them.
std::vector<Option> question_options(Question& question);

struct QuestionFile {
    std::string text;                // a whole file, without [advise]
    std::vector<std::string> notes;  // what of `like` it leaves out, as sentences
};
// Reads the file of `like`. Errors are lines, each with its option, or its place in that file, and a remedy.
tl::expected<QuestionFile, std::vector<std::string>> question_file(const Question& question);
// The table that follows the text: the groups of keys that advice searches.
std::string advise_section();

}  // namespace sluice::fabric
