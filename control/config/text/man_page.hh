// A page of the manual in the macros of man(7), of which it uses TH, SH, SS, PP, TP, br, nf and fi. Text is
// plain: it is escaped here.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

class ManPage {
  public:
    // `sentence` says what `name` is, without a period.
    ManPage(std::string_view name, char section, std::string_view sentence, std::string_view version) {
        out_ = ".TH ";
        for (const char c : name) out_ += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        out_ += std::string(" ") + section + " \"\" \"sluice " + escaped(version) + "\" \"Sluice\"\n";
        heading("NAME");
        out_ += escaped(name) + " \\- " + escaped(sentence) + "\n";
    }
    ManPage& heading(std::string_view text) { return head(".SH ", text); }
    ManPage& subheading(std::string_view text) { return head(".SS ", text); }
    ManPage& paragraph(std::string_view text) {
        if (!heading_is_last_) line(".PP");
        while (text.ends_with('\n')) text.remove_suffix(1);
        return line(escaped(text));
    }
    // `argument` follows the tag in another type face; it may be empty.
    ManPage& entry(std::string_view tag, std::string_view argument, std::string_view text) {
        line(".TP");
        line("\\fB" + escaped(tag) + "\\fR" + (argument.empty() ? "" : " \\fI" + escaped(argument) + "\\fR"));
        return line(escaped(text));
    }
    // On a new line of the paragraph or entry.
    ManPage& line_break(std::string_view text) { return line(".br\n" + escaped(text)); }
    // Lines as they are: examples, tables.
    ManPage& lines(std::string_view text) {
        while (text.ends_with('\n')) text.remove_suffix(1);
        if (!heading_is_last_) line(".PP");
        return line(".nf\n" + escaped(text) + "\n.fi");
    }
    const std::string& text() const { return out_; }

    // Escapes requests, escapes, and characters that troff would replace.
    static std::string escaped(std::string_view text) {
        static constexpr std::pair<char, std::string_view> escapes[] = {
            {'\\', "\\e"},  {'-', "\\-"},    {'^', "\\(ha"}, {'~', "\\(ti"},
            {'`', "\\(ga"}, {'\'', "\\(aq"}, {'"', "\\(dq"}};
        std::string out;
        bool line_begins = true;
        for (const char c : text) {
            if (line_begins && (c == '.' || c == '\'')) out += "\\&";
            line_begins = c == '\n';
            const auto* const escape = std::find_if(std::begin(escapes), std::end(escapes),
                                                    [c](const auto& e) { return e.first == c; });
            if (escape == std::end(escapes))
                out += c;
            else
                out += escape->second;
        }
        return out;
    }

  private:
    ManPage& line(const std::string& text) {
        out_ += text + "\n";
        heading_is_last_ = false;
        return *this;
    }
    ManPage& head(const char* macro, std::string_view text) {
        line(macro + escaped(text));
        heading_is_last_ = true;
        return *this;
    }

    std::string out_;
    bool heading_is_last_ = false;  // a paragraph begins by itself
};

}  // namespace sluice
