// NX-OS's policies by name, a configuration as lines, and the lines that change.
#include <fmt/format.h>

#include <array>

#include "tools/import/to_nxos.hh"

namespace sluice::import {
namespace {

constexpr std::string_view nxos_indent = "  ";
constexpr const char* qos_word = "service-policy type qos input";
constexpr const char* output_word = "service-policy type queuing output";
constexpr const char* input_word = "service-policy type queuing input";
constexpr const char* network_word = "service-policy type network-qos";

// The kinds of policies that ports share.
struct PolicyKind {
    const char* word;  // of the reference
    std::string_view head, stem;
    CliBodies NxosText::*bodies;
    std::string (*class_of)(unsigned queue);  // null: of type qos
};
constexpr std::array policy_kinds{
    PolicyKind{qos_word, "policy-map type qos ", "sluice", &NxosText::qos, nullptr},
    PolicyKind{output_word, "policy-map type queuing ", "sluice-out", &NxosText::output, output_class},
    PolicyKind{input_word, "policy-map type queuing ", "sluice-in", &NxosText::input, input_class},
};

CliBody reference_to(const char* word, const std::string& name) {
    return {{"", word, fmt::format("{} {}", word, name)}};
}

// By the reference's words and by port.
using References = std::map<std::string, std::map<std::string, std::string>, std::less<>>;

// The policies of one kind, over those that `known` has; and what ports go by.
SharedBodies share_policies(const NxosText& text, const PolicyKind& kind, References& by_word) {
    SharedBodies shared;
    for (const auto& [port, body] : text.*kind.bodies)
        if (!says_nothing(body)) by_word[kind.word][port] = share_body(shared, std::string(kind.stem), body);
    return shared;
}

// `known`: policies that are there already.
std::string network_text(const CliBody& network, SharedBodies known) {
    if (network.empty()) return {};
    const std::string name = share_body(known, "sluice-network", network);
    return section_text("policy-map type network-qos " + name, network, nxos_indent) +
           section_text("system qos", reference_to(network_word, name), nxos_indent);
}

// A change under the names of classes that the policy has.
CliBody in_words_of(const CliBody& changes, const PolicyKind& kind, const SharedNames* names,
                    const std::string& policy) {
    CliBody out = changes;
    if (names == nullptr || kind.class_of == nullptr) return out;
    const auto found = names->class_names.find(policy);
    if (found == names->class_names.end()) return out;
    for (CliLine& line : out)
        for (unsigned n = 0; n < classes; ++n)
            if (line.section == std::string(queuing_class_head) + kind.class_of(n) &&
                !found->second[n].empty()) {
                line.section = std::string(queuing_class_head) + found->second[n];
                break;
            }
    return out;
}

// The changes of one kind of policies: in place, or a policy of its own, to which the interface refers.
std::string patch_policies(const NxosText& today, const NxosText& wanted, const PolicyKind& kind,
                           const SharedNames* names, CliBodies& links, Account& account) {
    References by_word;
    SharedBodies known = share_policies(today, kind, by_word);
    if (names != nullptr) {
        known = names_taken(names, {});
        by_word[kind.word] = names->of(kind.word);
    }
    SharedBodies shared = known;
    std::string in_place;
    for (const SharedChange& each :
         shared_changes(today.*kind.bodies, wanted.*kind.bodies, by_word[kind.word], {})) {
        const std::string& port = each.ports.front();
        const CliBody& was = (today.*kind.bodies).at(port);
        if (!each.name.empty() && kind.class_of != nullptr) {
            const std::string head = fmt::format("{}{}", kind.head, each.name);
            in_place += section_text(head, in_words_of(each.changes, kind, names, each.name), nxos_indent);
            tell_changes(account, head, was, each.changes);
            continue;
        }
        for (const std::string& of : each.ports) {
            const CliBody& body = (wanted.*kind.bodies).at(of);
            links[of].push_back(
                says_nothing(body)
                    ? CliLine{"", kind.word, fmt::format("no {}", kind.word)}
                    : reference_to(kind.word, share_body(shared, std::string(kind.stem), body)).front());
            tell_changes(account, "interface " + wanted.names.at(of), was, each.changes);
        }
    }
    return shared_text(kind.head, shared, known, nxos_indent) + in_place;
}

// Lines of today that come to what is wanted, and in the file may stand in other words: of another speed.
void forget_other_words(NxosText& today, const NxosText& wanted) {
    for (auto& [port, body] : today.output)
        if (differs(today.links.at(port), wanted.links.at(port), "speed"))
            forget_lines(body, {"shape", "random-detect", "queue-limit"});
}

Exported nxos_patch(const ExportTask& task, Exporting& out) {
    Exporting before(task.today);
    NxosText today = nxos_text(before, names_taken(task.names, class_map_head));
    const NxosText wanted = nxos_text(out, today.class_maps);
    forget_other_words(today, wanted);
    Exported made;
    made.account = new_limits(std::move(out.account), before.account);
    CliBodies links = changed_links(made.account, today.links, wanted.links, wanted.names);
    for (const PolicyKind& kind : policy_kinds)
        made.text += patch_policies(today, wanted, kind, task.names, links, made.account);
    // Those of today's configuration as we write it are not in the file.
    made.text = shared_text("", referred_in(made.text, wanted.class_maps),
                            task.names == nullptr ? today.class_maps : SharedBodies{}, nxos_indent) +
                made.text;
    if (today.network != wanted.network) {
        made.text += wanted.network.empty()
                         ? section_text("system qos",
                                        {{"", network_word, fmt::format("no {}", network_word)}}, nxos_indent)
                         : network_text(wanted.network, task.names == nullptr
                                                            ? SharedBodies{{"sluice-network", today.network}}
                                                            : names_taken(task.names, {}));
        tell_changes(made.account, "policy-map type network-qos", today.network,
                     changed_lines(today.network, wanted.network));
    }
    made.text +=
        interfaces_text(links, wanted.names, nxos_indent) + changed_top(made.account, today.top, wanted.top);
    made.changes = !made.text.empty();
    if (made.changes && task.document == nullptr) tell_base(made.account, "nxos");
    return made;
}

}  // namespace

Exported export_nxos(const ExportTask& task) {
    Exporting out(task.wanted);
    if (task.patch) return nxos_patch(task, out);
    NxosText text = nxos_text(out, {});
    Exported made;
    References by_word;
    made.text = shared_text("", text.class_maps, {}, nxos_indent);
    for (const PolicyKind& kind : policy_kinds)
        made.text += shared_text(kind.head, share_policies(text, kind, by_word), {}, nxos_indent);
    made.text += network_text(text.network, {});
    for (const auto& [word, ports] : by_word)
        for (const auto& [port, name] : ports)
            text.links[port].push_back(reference_to(word.c_str(), name).front());
    made.text += interfaces_text(text.links, text.names, nxos_indent) + section_text({}, text.top, {});
    made.account = std::move(out.account);
    return made;
}

}  // namespace sluice::import
