#include "http/app.hpp"

#include <algorithm>
#include <format>
#include <stdexcept>
#include <utility>

namespace http {

namespace {

[[noreturn]] void give_up(std::string_view pattern, std::string_view why) {
    throw std::logic_error{std::format("route {}: {}", pattern, why)};
}

/// "GET, HEAD, OPTIONS": HEAD comes with GET, and OPTIONS is answered for every route.
template <typename Answers>
std::string allow_value(Answers answers) {
    std::string value;
    for (std::size_t i = 0; i < kMethods; ++i) {
        const auto method = static_cast<Method>(i);
        if (!answers(method)) continue;
        if (!value.empty()) value += ", ";
        value += method_name(method);
    }
    return value;
}

}  // namespace

Response plain(Status status) {
    return {.status = status,
            .content_type = "text/plain; charset=utf-8",
            .body = std::string{status_text(status)} + "\n"};
}

bool App::Route::answers(Method method) const {
    if (method == Method::options) return true;
    if (method == Method::head) return answers(Method::get);
    return (method == Method::get && resource != nullptr) ||
           handlers[static_cast<std::size_t>(method)];
}

App::Route& App::route_for(std::string_view pattern) {
    const auto id = router_.add(pattern);
    if (!id) give_up(pattern, "malformed, or at odds with an earlier route");
    if (*id >= routes_.size()) routes_.resize(*id + 1);
    return routes_[*id];
}

void App::on(Method method, std::string_view pattern, Handler handler) {
    auto& route = route_for(pattern);
    if (method == Method::head || method == Method::options)
        give_up(pattern, "HEAD and OPTIONS are the core's");
    if (route.answers(method)) give_up(pattern, "already has a handler for this method");
    route.handlers[static_cast<std::size_t>(method)] = std::move(handler);
    note_methods(route);
}

void App::serve(std::string_view pattern, const Resource& resource) {
    auto& route = route_for(pattern);
    if (route.answers(Method::get)) give_up(pattern, "already has a handler for GET");
    route.resource = &resource;
    note_methods(route);
}

void App::note_methods(Route& route) {
    route.allow = allow_value([&](Method method) { return route.answers(method); });
    allow_ = allow_value([&](Method method) {
        return std::ranges::any_of(routes_, [=](const Route& any) { return any.answers(method); });
    });
}

const App::Route* App::find(std::string_view path, Params& params) const {
    const auto id = router_.find(path, params);
    return id ? &routes_[*id] : nullptr;
}

}  // namespace http
