#include "http/conditions.hpp"

#include <algorithm>
#include <string_view>

#include "http/ascii.hpp"
#include "http/content_length.hpp"
#include "http/date.hpp"

namespace http {

namespace {

/// Takes the next entity tag off the front of a list; "" at the end or where the list is malformed.
std::string_view next_tag(std::string_view& list) {
    const auto start = list.find_first_not_of(" \t,");
    if (start == std::string_view::npos) return {};
    list.remove_prefix(start);
    const auto open = list.starts_with("W/") ? 2U : 0U;
    if (list.size() <= open || list[open] != '"') return {};
    const auto close = list.find('"', open + 1);
    if (close == std::string_view::npos) return {};
    const auto tag = list.substr(0, close + 1);
    list.remove_prefix(close + 1);
    return tag;
}

enum class Compare : std::uint8_t { weak, strong };

/// Does the list, or "*", name this tag? RFC 9110 section 8.8.3.2. Our own tags are strong.
bool list_matches(std::string_view list, std::string_view etag, Compare how) {
    if (trim(list) == "*") return true;
    for (auto tag = next_tag(list); !tag.empty(); tag = next_tag(list)) {
        if (how == Compare::weak && tag.starts_with("W/")) tag.remove_prefix(2);
        if (tag == etag) return true;
    }
    return false;
}

/// A field that is a list may come in several lines.
bool field_matches(const Head& head, std::string_view name, std::string_view etag, Compare how) {
    return std::ranges::any_of(head.fields(), [&](const Field& field) {
        return equal_ignoring_case(field.name, name) && list_matches(field.value, etag, how);
    });
}

/// True when the date in `field` is one, and the resource has not changed since.
bool unchanged_since(std::string_view field, const Resource& resource) {
    const auto date = parse_date(field);
    return date && resource.modified && *resource.modified <= *date;
}

/// Section 13.2.2: the order in which conditions are looked at.
std::optional<Status> precondition(const Head& head, const Resource& resource) {
    if (head.field("If-Match")) {
        if (!field_matches(head, "If-Match", resource.etag, Compare::strong))
            return Status::precondition_failed;
    } else if (const auto since = head.field("If-Unmodified-Since"); since && resource.modified) {
        if (parse_date(*since) && !unchanged_since(*since, resource))
            return Status::precondition_failed;
    }
    if (head.field("If-None-Match")) {
        if (field_matches(head, "If-None-Match", resource.etag, Compare::weak))
            return Status::not_modified;
    } else if (const auto since = head.field("If-Modified-Since")) {
        if (unchanged_since(*since, resource)) return Status::not_modified;
    }
    return std::nullopt;
}

/// If-Range, section 13.1.5: the range counts only when the peer's copy is of this very version.
bool range_applies(const Head& head, const Resource& resource) {
    const auto condition = head.field("If-Range");
    if (!condition) return true;
    if (condition->starts_with('"')) return *condition == resource.etag;
    const auto date = parse_date(*condition);
    return date && resource.modified && *resource.modified == *date;
}

struct RangeVerdict {
    enum class Kind : std::uint8_t { ignore, satisfied, unsatisfiable } kind = Kind::ignore;
    Slice slice;
};

/// One range of bytes, section 14.1.2: "a-b", "a-" or "-n". Several ranges, other units and what is
/// not well-formed are ignored, as section 14.2 allows: the whole is always a right answer.
RangeVerdict parse_range(std::string_view value, std::uint64_t size) {
    using enum RangeVerdict::Kind;
    if (value.size() < 6 || !equal_ignoring_case(value.substr(0, 6), "bytes=")) return {};
    const auto spec = trim(value.substr(6));
    const auto dash = spec.find('-');
    if (dash == std::string_view::npos) return {};
    const auto first_text = spec.substr(0, dash), last_text = spec.substr(dash + 1);
    const auto first = parse_content_length(first_text), last = parse_content_length(last_text);
    if ((!first && !first_text.empty()) || (!last && !last_text.empty()) || (!first && !last))
        return {};
    if (!first) {  // the last n bytes
        const auto length = std::min(*last, size);
        return length == 0 ? RangeVerdict{unsatisfiable, {}}
                           : RangeVerdict{satisfied, {size - length, length}};
    }
    if (last && *last < *first) return {};
    if (*first >= size) return {unsatisfiable, {}};
    const auto end = std::min(last.value_or(size - 1), size - 1);
    return {satisfied, {*first, end - *first + 1}};
}

}  // namespace

Selection select(const Head& head, const Resource& resource) {
    const Selection whole{Status::ok, {0, resource.size}};
    if (const auto status = precondition(head, resource)) return {*status, {}};
    const auto range = head.field("Range");
    if (!range || head.method != Method::get || !range_applies(head, resource)) return whole;
    const auto verdict = parse_range(*range, resource.size);
    switch (verdict.kind) {
        case RangeVerdict::Kind::satisfied: return {Status::partial_content, verdict.slice};
        case RangeVerdict::Kind::unsatisfiable: return {Status::range_not_satisfiable, {}};
        case RangeVerdict::Kind::ignore: break;
    }
    return whole;
}

}  // namespace http
