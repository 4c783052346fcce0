// YAML by yaml-cpp's events: it never builds a tree of its own, so an alias costs what Builder counts.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <unordered_map>

#include "tools/import/document.hh"

namespace sluice::import {
namespace {

SourcePlace place_of(const YAML::Mark& mark) {
    if (mark.is_null()) return {};
    return {static_cast<unsigned>(mark.line) + 1, static_cast<unsigned>(mark.column) + 1};
}

class YamlEvents : public YAML::EventHandler {
  public:
    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (built.wants_key()) return built.key("", place_of(mark));
        built.null(place_of(mark));
        remember(anchor);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end() || built.is_open(found->second))
            throw ReadError{place_of(mark), {}, "an alias stands inside what it is an alias of", {}};
        refuse_key(mark);
        built.copy(*found->second, place_of(mark));
    }
    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  const std::string& value) override {
        if (built.wants_key()) return built.key(value, place_of(mark));
        built.word(value, place_of(mark));
        remember(anchor);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(Item::Kind::list, mark, anchor);
    }
    void OnSequenceEnd() override { built.close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(Item::Kind::map, mark, anchor);
    }
    void OnMapEnd() override { built.close(); }

    Builder built;

  private:
    void refuse_key(const YAML::Mark& mark) const {
        if (built.wants_key())
            throw ReadError{place_of(mark), {}, "a key that is not a word", "write a word"};
    }
    void open(Item::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
        refuse_key(mark);
        built.open(kind, place_of(mark));
        remember(anchor);
    }
    void remember(YAML::anchor_t anchor) {
        if (anchor != YAML::NullAnchor) anchors_[anchor] = built.last();
    }

    std::unordered_map<YAML::anchor_t, const Item*> anchors_;
};

}  // namespace

Document read_yaml(const std::string& text) {
    std::istringstream stream(text);
    YamlEvents events;
    try {
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(events)) {
        }
    } catch (ReadError& error) {
        return tl::unexpected(std::move(error));
    } catch (const YAML::Exception& error) {
        return tl::unexpected(ReadError{place_of(error.mark), {}, "is not YAML: " + error.msg, {}});
    }
    auto root = events.built.take();
    if (!root) return tl::unexpected(ReadError{{}, {}, "has no document", {}});
    return root;
}

}  // namespace sluice::import
