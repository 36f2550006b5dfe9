// An application: its routes and what answers them. Built before the server starts, then only read,
// so all threads share one without a lock.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "http/head.hpp"
#include "http/resource.hpp"
#include "http/router.hpp"

namespace http {

/// A request, whole, as a handler sees it. All views end with the call.
struct Request {
    const Head& head;
    std::string_view path;  // decoded; head.path is as it was sent
    const Params& params;
    std::string_view body;
};

/// What a handler answers. With a resource, the core sees to conditions and ranges, and `body` is
/// not used.
struct Response {
    Status status = Status::ok;
    std::string_view content_type = {};  // a literal, or what else outlives the response
    std::string body = {};
    ResourcePtr resource = {};
};

/// "404 Not Found\n" as text: a response that says its status and no more.
Response plain(Status status);

using Handler = std::function<Response(const Request&)>;

class App {
  public:
    /// Throws std::logic_error on a pattern that is malformed or taken: a mistake in the program.
    void on(Method method, std::string_view pattern, Handler handler);

    /// Answers GET and HEAD of this path with a resource, whose owner outlives all connections.
    void serve(std::string_view pattern, const Resource& resource);

    struct Route {
        std::array<Handler, kMethods> handlers;
        const Resource* resource = nullptr;  // GET and HEAD, without a call
        std::string allow;                   // the Allow field's value

        [[nodiscard]] bool answers(Method method) const;
    };

    /// The route of a path, or null.
    [[nodiscard]] const Route* find(std::string_view path, Params& params) const;

    /// The methods that some route answers: what OPTIONS * says.
    [[nodiscard]] std::string_view allow() const { return allow_; }

  private:
    Route& route_for(std::string_view pattern);
    void note_methods(Route& route);

    Router router_;
    std::vector<Route> routes_;
    std::string allow_;
};

}  // namespace http
