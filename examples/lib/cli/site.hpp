// The site that a server program serves: the built-in one, or a directory that is read into memory.
#pragma once

#include <string>

#include "http/app.hpp"
#include "sys/error.hpp"

namespace cli {

/// "": the built-in site. Else all regular files below `root`, read now and never looked at again
/// (chapter 8 serves them from the disk instead). Errors: a directory or file that cannot be read,
/// more than 256 MiB in all.
sys::Result<http::App> make_site(const std::string& root);

}  // namespace cli
