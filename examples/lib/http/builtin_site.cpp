#include "http/builtin_site.hpp"

#include <string>

#include "site/index_html.hpp"
#include "site/style_css.hpp"

namespace http {

namespace {

// a fixed date, so that every server of the book sends the same bytes
constexpr std::chrono::sys_seconds kModified =
    std::chrono::sys_days{std::chrono::year{2026} / std::chrono::January / 1};

Response hello(const Request& request) {
    return {.content_type = "text/plain; charset=utf-8",
            .body = "Hello, " + std::string{request.params["name"]} + "\n"};
}

Response echo(const Request& request) {
    // never the type that the request claims: a browser must not be talked into running an echo
    return {.content_type = "application/octet-stream", .body = std::string{request.body}};
}

}  // namespace

void add_builtin_handlers(App& app) {
    app.on(Method::get, "/hello/:name", hello);
    app.on(Method::post, "/echo", echo);
}

App builtin_site() {
    static const Resource index =
        make_asset(content_type_of("index.html"), site::index_html, kModified);
    static const Resource style =
        make_asset(content_type_of("style.css"), site::style_css, kModified);
    App app;
    app.serve("/", index);
    app.serve("/style.css", style);
    add_builtin_handlers(app);
    return app;
}

}  // namespace http
