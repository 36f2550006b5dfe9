#include "cases.hpp"

#include <charconv>
#include <cstdlib>
#include <format>
#include <fstream>
#include <iterator>
#include <map>
#include <print>

#include "http/ascii.hpp"
#include "http/resource.hpp"

namespace {

[[noreturn]] void give_up(std::string_view what) {
    std::println(stderr, "http-cases.txt: {}", what);
    std::exit(1);
}

std::string read_file(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    if (!in) give_up("cannot read " + path);
    return {std::istreambuf_iterator<char>{in}, {}};
}

class Loader {
  public:
    Loader() {
        std::ifstream in{TTC_CASES};
        if (!in) give_up("cannot read " TTC_CASES);
        for (std::string line; std::getline(in, line);)
            if (!line.empty() && !line.starts_with('#')) read_line(line);
    }

    std::string expand(std::string_view text) const {
        std::string out;
        while (!text.empty()) {
            const char c = text.front();
            text.remove_prefix(1);
            if (c == '\\')
                out += take_escape(text);
            else if (c == '{')
                out += take_macro(text);
            else
                out += c;
        }
        return out;
    }

    std::vector<Case> cases;

  private:
    void read_line(std::string_view line) {
        const auto space = line.find(' ');
        const auto word = line.substr(0, space);
        const auto text = space == std::string_view::npos ? "" : line.substr(space + 1);
        if (word == "define") {
            const auto end = text.find(' ');
            macros_[std::string{text.substr(0, end)}] = text.substr(end + 1);
        } else if (word == "case") {
            cases.emplace_back().name = text;
        } else if (cases.empty()) {
            give_up(line);
        } else {
            read_case_line(cases.back(), word, text);
        }
    }

    void read_case_line(Case& to, std::string_view word, std::string_view text) {
        if (word == "rule")
            to.rule = text;
        else if (word == "send")
            to.send += expand(text);
        else if (word == "want")
            to.want += expand(text);
        else if (word == "then" && (text == "open" || text == "close"))
            to.stays_open = text == "open";
        else if (word == "eof")
            to.eof = true;
        else
            give_up(word);
    }

    static char take_escape(std::string_view& text) {
        const char c = text.empty() ? '?' : text.front();
        text.remove_prefix(text.empty() ? 0 : 1);
        switch (c) {
            case 'r': return '\r';
            case 'n': return '\n';
            case 't': return '\t';
            case '0': return '\0';
            case '\\':
            case '{':
            case '}': return c;
            case 'x': {
                const int value = http::hex_value(text[0]) * 16 + http::hex_value(text[1]);
                text.remove_prefix(2);
                return static_cast<char>(value);
            }
            default: give_up(std::format("unknown escape \\{}", c));
        }
    }

    std::string take_macro(std::string_view& text) const {
        const auto end = text.find('}');
        if (end == std::string_view::npos) give_up("a brace without its partner");
        const auto name = text.substr(0, end);
        text.remove_prefix(end + 1);
        const auto colon = name.find(':');
        if (colon == std::string_view::npos) return plain_macro(name);
        return built_in(name.substr(0, colon), name.substr(colon + 1));
    }

    std::string plain_macro(std::string_view name) const {
        if (name == "date") return std::string{kTestDate};
        const auto found = macros_.find(name);
        if (found == macros_.end()) give_up(std::format("unknown macro {}", name));
        return expand(found->second);
    }

    std::string built_in(std::string_view kind, std::string_view argument) const {
        if (kind == "repeat") {
            const auto colon = argument.find(':');
            int count = 0;
            std::from_chars(argument.data(), argument.data() + colon, count);
            const auto piece = expand(argument.substr(colon + 1));
            std::string out;
            for (int i = 0; i < count; ++i) out += piece;
            return out;
        }
        const auto bytes = read_file(std::string{TTC_SITE "/"} + std::string{argument});
        if (kind == "file") return bytes;
        if (kind == "file-size") return std::to_string(bytes.size());
        if (kind == "file-tag") return http::make_etag(bytes).substr(1, 16);
        give_up(std::format("unknown macro {}", kind));
    }

    std::map<std::string, std::string, std::less<>> macros_;
};

const Loader& loader() {
    static const Loader instance;
    return instance;
}

}  // namespace

const std::vector<Case>& all_cases() { return loader().cases; }

std::string expanded(std::string_view text) { return loader().expand(text); }
