// Character classes and small parsers of RFC 9110 section 5.6, free of locale.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace http {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// tchar, RFC 9110 section 5.6.2: what a method or a field name is made of.
constexpr bool is_tchar(char c) {
    return is_digit(c) || is_alpha(c) ||
           std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

/// What a field value may hold, RFC 9110 section 5.5: visible ASCII, space, tab, and bytes above
/// 0x7f.
constexpr bool is_field_char(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

/// A table made from one of the above: one load a byte, which matters on the way of every request.
template <bool (*kind)(char)>
inline constexpr auto kTable = [] {
    std::array<bool, 256> table{};
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = kind(static_cast<char>(i));
    return table;
}();

template <bool (*kind)(char)>
constexpr bool all_are(std::string_view text) {
    for (const char c : text)
        if (!kTable<kind>[static_cast<unsigned char>(c)]) return false;
    return true;
}

constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (lower(a[i]) != lower(b[i])) return false;
    return true;
}

/// Without the spaces and tabs at both ends (OWS, RFC 9110 section 5.6.3).
constexpr std::string_view trim(std::string_view text) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// The value of a hexadecimal digit, or -1.
constexpr int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    const char l = lower(c);
    return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

/// Calls `each(element)` for the elements of a comma-separated list; empty ones are passed over
/// (RFC 9110 section 5.6.1). Not for lists whose elements may hold commas in quotes.
template <typename Each>
constexpr void for_each_element(std::string_view list, Each each) {
    while (!list.empty()) {
        const auto comma = list.find(',');
        const auto element = trim(list.substr(0, comma));
        if (!element.empty()) each(element);
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
}

}  // namespace http
