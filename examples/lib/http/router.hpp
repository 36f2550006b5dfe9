// Which route does a path belong to? A trie by path segments.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace http {

/// What the variable parts of a pattern stood for. The views point into the path.
class Params {
  public:
    static constexpr std::size_t kMax = 8;

    /// The value of `:name` or `*name`; "" when the pattern has no such part.
    [[nodiscard]] std::string_view operator[](std::string_view name) const;

  private:
    friend class Router;
    struct Entry {
        std::string_view name, value;
    };
    std::array<Entry, kMax> entries_;
    std::size_t count_ = 0;
};

/// A pattern is "/a/b" (static), "/a/:name" (one segment, not empty) or "/a/*rest" (all that is
/// left, which may be empty or hold '/'). At each segment static goes before `:name`, and that
/// before `*rest`.
class Router {
  public:
    using RouteId = std::size_t;

    /// The route for this pattern, made when it is new. nullopt: malformed, too many variable
    /// parts, or at odds with an earlier pattern about the name of a variable part.
    std::optional<RouteId> add(std::string_view pattern);

    /// The route of a path, and `params` filled in. The path begins with '/'.
    std::optional<RouteId> find(std::string_view path, Params& params) const;

  private:
    struct Node {
        std::string segment;                          // what a static child is entered by
        std::vector<std::unique_ptr<Node>> children;  // static ones
        std::unique_ptr<Node> param;
        std::string param_name;
        std::optional<RouteId> wildcard;
        std::string wildcard_name;
        std::optional<RouteId> route;  // a pattern ends here
    };

    std::optional<RouteId> add_wildcard(Node& node, std::string_view name);
    static Node* child_for(Node& node, std::string_view segment);
    static std::optional<RouteId> find_below(const Node& node, std::string_view rest,
                                             Params& params);

    Node root_;
    RouteId next_ = 0;
};

}  // namespace http
