#include "cli/cli.hpp"

#include <algorithm>
#include <exception>
#include <format>
#include <limits>
#include <print>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/site.hpp"
#include "sys/signals.hpp"

namespace cli {

namespace {

constexpr int kRuntimeFailure = 1;
constexpr int kUsageError = 2;

/// Digits alone: CLI11 by itself would also take "0x10", and "010" as eight.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
    const auto check = [=](const std::string& text) -> std::string {
        const bool digits =
            !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
        if (digits && text.size() <= 18 && std::stoull(text) >= least && std::stoull(text) <= most)
            return {};
        return std::format("{} is not a whole number from {} to {}", text, least, most);
    };
    return {check, std::format("{}..{}", least, most)};
}

std::string check_host(const std::string& text) {
    return sys::is_numeric_address(text) ? std::string{} : text + " is not a numeric address";
}

template <typename Value>
void add_number(CLI::App& command, const std::string& flag, Value& value, const std::string& help,
                std::uint64_t least, std::uint64_t most) {
    command
        .add_option_function<std::string>(
            flag,
            [&value](const std::string& text) { value = static_cast<Value>(std::stoull(text)); },
            help)
        ->check(whole_number(least, most))
        ->type_name("N");
}

/// What the parser fills in.
struct Chosen {
    std::string model;
    ServeOptions serve;
    std::uint64_t idle_milliseconds = 5000;
};

void add_serve_options(CLI::App& command, Chosen& chosen, const Program& program) {
    constexpr std::uint64_t kMany = 1'000'000;
    std::vector<std::string> names;
    names.reserve(program.models.size());
    for (const auto& model : program.models) names.push_back(model.name);
    auto& serve = chosen.serve;
    command.add_option("--model", chosen.model, "how to serve")
        ->check(CLI::IsMember(names))
        ->type_name("M");
    add_number(command, "--port", serve.endpoint.port, "0: a free one (default 8080)", 0, 65535);
    command.add_option("--host", serve.endpoint.host, "numeric address (default 127.0.0.1)")
        ->check(check_host)
        ->type_name("A");
    command.add_option("--root", serve.root, "serve this directory")
        ->check(CLI::ExistingDirectory)
        ->type_name("DIR");
    add_number(command, "--workers", serve.workers, "for models that have workers", 1, 1024);
    add_number(command, "--max-connections", serve.max_connections, "open at the same time", 1,
               kMany);
    add_number(command, "--idle-timeout", chosen.idle_milliseconds, "milliseconds (default 5000)",
               1, 86'400'000);
    add_number(command, "--backlog", serve.backlog, "length of the accept queue (default 1024)", 1,
               kMany);
}

const Model& find_model(const Program& program, const std::string& name) {
    const auto found = std::ranges::find(program.models, name, &Model::name);
    return found == program.models.end() ? program.models.front() : *found;
}

int fail(std::string_view message) {
    std::println(stderr, "httpd: {}", message);
    return kRuntimeFailure;
}

sys::Result<Stats> serve(const Model& model, ServeOptions& options) {
    auto stop = sys::stop_signals();
    if (!stop) return std::unexpected{stop.error()};
    options.stop = std::move(*stop);
    options.ready = [&](const sys::Endpoint& endpoint) {
        std::println(stderr, "httpd: serving model={} on {}", model.name, endpoint.text());
    };
    const auto app = make_site(options.root);
    if (!app) return std::unexpected{app.error()};
    return model.serve(options, *app);
}

int run_serve(const Program& program, Chosen& chosen) {
    chosen.serve.limits.idle = std::chrono::milliseconds{chosen.idle_milliseconds};
    const auto& model = find_model(program, chosen.model);
    const auto stats = serve(model, chosen.serve);
    if (!stats) return fail(stats.error().message());
    std::println(stderr, "httpd: stopped model={} requests={} connections={} peak={}", model.name,
                 stats->requests, stats->connections, stats->peak);
    return 0;
}

void list_models(const Program& program) {
    std::size_t width = 0;
    for (const auto& model : program.models) width = std::max(width, model.name.size());
    for (const auto& model : program.models)
        std::println("{:{}}  {}", model.name, width, model.summary);
}

std::string usage(const Program& program) {
    std::string text =
        "usage: app serve [--model M] [--port P] [--host A] [--root DIR] [--workers N]\n"
        "                 [--max-connections N] [--idle-timeout MS] [--backlog N]\n"
        "       app models\n";
    for (const auto& command : program.commands) {
        text += "       app " + command.name;
        for (const auto& number : command.numbers) text += std::format(" [{} N]", number.flag);
        text += '\n';
    }
    return text;
}

/// Builds the parser and runs what it found. Throws CLI::ParseError on a usage error or a request
/// for help.
int parse_and_run(int argc, char** argv, const Program& program) {
    CLI::App parser{"One way, or several, to serve HTTP."};
    parser.require_subcommand(1);
    Chosen chosen;
    auto* serve_command = parser.add_subcommand("serve", "serve until SIGTERM or SIGINT");
    add_serve_options(*serve_command, chosen, program);
    auto* models_command = parser.add_subcommand("models", "list the models");
    std::vector<CLI::App*> extra;
    extra.reserve(program.commands.size());
    for (const auto& command : program.commands) {
        extra.push_back(parser.add_subcommand(command.name, command.summary));
        for (const auto& number : command.numbers)
            add_number(*extra.back(), number.flag, *number.value, number.help, 1,
                       std::numeric_limits<int>::max());
    }
    try {
        parser.parse(argc, argv);
    } catch (const CLI::CallForHelp& help) {
        return parser.exit(help);
    }
    if (models_command->parsed()) {
        list_models(program);
        return 0;
    }
    for (std::size_t i = 0; i < extra.size(); ++i) {
        if (!extra[i]->parsed()) continue;
        const auto result = program.commands[i].run();
        return result ? 0 : fail(result.error().message());
    }
    return run_serve(program, chosen);
}

}  // namespace

int run(int argc, char** argv, const Program& program) {
    try {
        return parse_and_run(argc, argv, program);
    } catch (const CLI::ParseError& error) {
        std::print(stderr, "{}app: {}\n", usage(program), error.what());
        return kUsageError;
    } catch (const std::exception& error) {  // out of memory at start, say
        return fail(error.what());
    }
}

}  // namespace cli
