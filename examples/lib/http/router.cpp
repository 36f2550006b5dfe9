#include "http/router.hpp"

#include <algorithm>

namespace http {

namespace {

/// Takes the first segment off "/a/b": returns "a" and leaves "/b".
std::string_view take_segment(std::string_view& rest) {
    const auto end = std::min(rest.find('/', 1), rest.size());
    const auto segment = rest.substr(1, end - 1);
    rest.remove_prefix(end);
    return segment;
}

}  // namespace

std::string_view Params::operator[](std::string_view name) const {
    for (std::size_t i = 0; i < count_; ++i)
        if (entries_[i].name == name) return entries_[i].value;
    return {};
}

std::optional<Router::RouteId> Router::add(std::string_view pattern) {
    if (!pattern.starts_with('/')) return std::nullopt;
    Node* node = &root_;
    std::size_t variables = 0;
    for (auto rest = pattern; !rest.empty();) {
        const auto segment = take_segment(rest);
        const bool is_variable = segment.starts_with(':') || segment.starts_with('*');
        if (is_variable && (segment.size() == 1 || ++variables > Params::kMax)) return std::nullopt;
        if (segment.starts_with('*'))
            return rest.empty() ? add_wildcard(*node, segment.substr(1)) : std::nullopt;
        node = child_for(*node, segment);
        if (node == nullptr) return std::nullopt;
    }
    if (!node->route) node->route = next_++;
    return node->route;
}

std::optional<Router::RouteId> Router::add_wildcard(Node& node, std::string_view name) {
    if (node.wildcard && node.wildcard_name != name) return std::nullopt;
    node.wildcard_name = name;
    if (!node.wildcard) node.wildcard = next_++;
    return node.wildcard;
}

Router::Node* Router::child_for(Node& node, std::string_view segment) {
    if (segment.starts_with(':')) {
        if (node.param && node.param_name != segment.substr(1)) return nullptr;
        node.param_name = segment.substr(1);
        if (!node.param) node.param = std::make_unique<Node>();
        return node.param.get();
    }
    const auto found =
        std::ranges::find(node.children, segment,
                          [](const auto& child) -> std::string_view { return child->segment; });
    if (found != node.children.end()) return found->get();
    auto& made = node.children.emplace_back(std::make_unique<Node>());
    made->segment = segment;
    return made.get();
}

std::optional<Router::RouteId> Router::find(std::string_view path, Params& params) const {
    params.count_ = 0;
    return path.starts_with('/') ? find_below(root_, path, params) : std::nullopt;
}

/// Recursive, and no deeper than the longest pattern has segments.
std::optional<Router::RouteId> Router::find_below(const Node& node, std::string_view rest,
                                                  Params& params) {
    if (rest.empty()) return node.route;
    auto below = rest;
    const auto segment = take_segment(below);
    for (const auto& child : node.children)
        if (child->segment == segment)
            if (const auto found = find_below(*child, below, params)) return found;
    const auto count = params.count_;
    if (node.param && !segment.empty()) {
        params.entries_[params.count_++] = {node.param_name, segment};
        if (const auto found = find_below(*node.param, below, params)) return found;
        params.count_ = count;  // a dead end: forget what was taken on the way
    }
    if (node.wildcard) params.entries_[params.count_++] = {node.wildcard_name, rest.substr(1)};
    return node.wildcard;
}

}  // namespace http
