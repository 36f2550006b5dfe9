// The site that every server has without being told of one: an index page, a style sheet, a
// greeting and an echo.
#pragma once

#include "http/app.hpp"

namespace http {

/// GET / and /style.css, GET /hello/:name, POST /echo.
App builtin_site();

/// The two routes that are not files: they stand beside any other site, too.
void add_builtin_handlers(App& app);

}  // namespace http
