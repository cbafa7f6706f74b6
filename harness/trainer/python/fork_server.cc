#include "harness/trainer/python/fork_server.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "harness/run/files/text_file.h"
#include "harness/trainer/python/fork_server_script.h"
#include "harness/trainer/text/program_output.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr int kServerPollMs = 100;
constexpr const char* kScriptName = "fork_server.py";
constexpr const char* kModulesName = "modules.txt";
constexpr const char* kLogName = "log.txt";

Result<std::vector<std::string>> ScriptCommand(const PythonCommand& command,
                                               const fs::path& folder) {
  const fs::path script = folder / kScriptName;
  RETURN_IF_ERROR(WriteTextFile(script, std::string(ForkServerScript())));
  std::vector<std::string> arguments = {command.interpreter};
  arguments.insert(arguments.end(), command.flags.begin(), command.flags.end());
  arguments.push_back(script.string());
  return arguments;
}

}  // namespace

Result<std::vector<std::string>> ModuleListCommand(const PythonCommand& command,
                                                   const fs::path& folder,
                                                   const fs::path& modules) {
  ASSIGN_OR_RETURN(std::vector<std::string> arguments,
                   ScriptCommand(command, folder));
  for (const std::string& argument :
       {std::string("list"), modules.string(), command.kind, command.target})
    arguments.push_back(argument);
  arguments.insert(arguments.end(), command.arguments.begin(),
                   command.arguments.end());
  return arguments;
}

ForkServer::ForkServer(fs::path folder, ChildProcess process)
    : folder_(std::move(folder)), process_(std::move(process)) {}

Result<std::unique_ptr<ForkServer>> ForkServer::Start(
    const ForkServerOptions& options) {
  RETURN_IF_ERROR(
      WriteTextFile(options.folder / kModulesName, options.modules));
  ASSIGN_OR_RETURN(std::vector<std::string> arguments,
                   ScriptCommand(options.command, options.folder));
  arguments.emplace_back("serve");
  arguments.push_back(options.folder.string());
  // Starts the interpreter through a shell, which searches PATH and passes the
  // name as it was given. Python finds its libraries by this name.
  arguments.insert(arguments.begin(), {"-c", R"(exec "$0" "$@")"});
  ASSIGN_OR_RETURN(
      ChildProcess process,
      StartChild({.path = "/bin/sh",
                  .arguments = std::move(arguments),
                  .environment = options.environment,
                  .log_file = (options.folder / kLogName).string()}));
  std::unique_ptr<ForkServer> server(
      new ForkServer(options.folder, std::move(process)));
  ASSIGN_OR_RETURN(const std::string report,
                   server->ReadReport(options.interrupted));
  RETURN_IF_ERROR(server->TakeReport(report));
  return server;
}

ForkServer::~ForkServer() {
  SendSignal(process_, SIGKILL);
  AwaitEnd(process_);
}

// Reads one line of the server. If the server has ended, reads the rest of its
// output.
Result<std::string> ForkServer::ReadReport(
    const std::function<bool()>& interrupted) {
  std::string report;
  std::array<char, 4096> piece = {};
  while (!report.ends_with('\n')) {
    if (interrupted && interrupted()) return Cancelled("interrupted");
    pollfd ready = {
        .fd = process_.socket.get(), .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kServerPollMs) <= 0) continue;
    const ssize_t count =
        recv(process_.socket.get(), piece.data(), piece.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) break;
    report.append(piece.data(), static_cast<size_t>(count));
  }
  return report;
}

Status ForkServer::TakeReport(const std::string& report) {
  const auto json =
      nlohmann::json::parse(report, nullptr, /*allow_exceptions=*/false);
  if (json.contains("off"))
    return FailedPrecondition(json.at("off").get<std::string>());
  if (!json.contains("modules")) {
    return FailedPrecondition(fmt::format(
        "it ended: {}", LastLine(ReadTextFile(folder_ / kLogName))));
  }
  json.at("modules").get_to(module_count_);
  json.at("skipped").get_to(skipped_);
  return OkStatus();
}

}  // namespace gauntlet
