#include "cli/site.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <sys/stat.h>

#include "http/builtin_site.hpp"

namespace cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} * 1024 * 1024;

struct File {
    std::string bytes;
    http::Resource resource;  // points into bytes
};

/// By path as a request names it. A map's entries stay where they are.
using Files = std::map<std::string, File, std::less<>>;

std::chrono::sys_seconds modified_at(const fs::path& path) {
    struct stat info = {};
    return std::chrono::sys_seconds{
        std::chrono::seconds{stat(path.c_str(), &info) == 0 ? info.st_mtime : 0}};
}

sys::Result<void> load(const fs::path& path, const std::string& name, Files& files) {
    std::ifstream in{path, std::ios::binary};
    if (!in) return sys::failure("read " + path.string());
    auto& file = files[name];
    file.bytes.assign(std::istreambuf_iterator<char>{in}, {});
    if (in.bad()) return sys::failure("read " + path.string(), EIO);
    file.resource = http::make_asset(http::content_type_of(name), file.bytes, modified_at(path));
    return {};
}

sys::Result<void> load_all(const fs::path& root, Files& files) {
    std::error_code code;
    std::uintmax_t total = 0;
    for (auto at = fs::recursive_directory_iterator{root, code}; !code && at != end(at);
         at.increment(code)) {
        if (!at->is_regular_file(code)) continue;
        total += at->file_size(code);
        if (total > kMostBytes) return sys::failure("hold " + root.string() + " in memory", EFBIG);
        const auto name = "/" + at->path().lexically_relative(root).generic_string();
        if (auto loaded = load(at->path(), name, files); !loaded) return loaded;
    }
    if (code) return std::unexpected{sys::Error{"read " + root.string(), code}};
    return {};
}

http::Response find_file(const Files& files, std::string_view path) {
    auto found = files.find(path);
    if (path.ends_with('/')) found = files.find(std::string{path} + "index.html");
    if (found == files.end()) return http::plain(http::Status::not_found);
    return {.resource = http::unowned(found->second.resource)};
}

}  // namespace

sys::Result<http::App> make_site(const std::string& root) {
    if (root.empty()) return http::builtin_site();
    const auto files = std::make_shared<Files>();
    if (auto loaded = load_all(root, *files); !loaded) return std::unexpected{loaded.error()};
    http::App app;
    http::add_builtin_handlers(app);
    app.on(http::Method::get, "/*path",
           [files](const http::Request& request) { return find_file(*files, request.path); });
    return app;
}

}  // namespace cli
