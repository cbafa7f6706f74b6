#include "harness/trainer/run/trainer_run.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

Json InjectionToJson(const Injection& injection) {
  Json at = {{"path", injection.at.path},
             {"occurrence", injection.at.occurrence}};
  if (injection.at.kind)
    at["operation"] = OperationKindName(*injection.at.kind);
  if (injection.at.rank) at["rank"] = *injection.at.rank;
  return {{"at", std::move(at)},
          {"kind", static_cast<int>(injection.kind)},
          {"torn_bytes", injection.torn_bytes},
          {"error", injection.error},
          {"repeats", injection.repeats},
          {"scope", static_cast<int>(injection.scope)},
          {"duration", injection.duration.count()}};
}

Injection InjectionFromJson(const Json& json) {
  Injection injection;
  const Json& at = json.at("at");
  at.at("path").get_to(injection.at.path);
  at.at("occurrence").get_to(injection.at.occurrence);
  if (at.contains("operation")) {
    injection.at.kind =
        ParseOperationKind(at.at("operation").get<std::string>());
  }
  if (at.contains("rank")) injection.at.rank = at.at("rank").get<int32_t>();
  injection.kind = static_cast<InjectionKind>(json.at("kind").get<int>());
  json.at("torn_bytes").get_to(injection.torn_bytes);
  json.at("error").get_to(injection.error);
  json.at("repeats").get_to(injection.repeats);
  injection.scope = static_cast<KillScope>(json.at("scope").get<int>());
  injection.duration = Duration(json.at("duration").get<int64_t>());
  return injection;
}

std::string Text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool IsUtf8(const std::vector<std::string>& texts) {
  try {
    static_cast<void>(Json(texts).dump());
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

Result<Json> ParseFile(const std::string& text, std::string_view file) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) return json;
  return DataLoss(fmt::format("{}: expected a JSON object", file));
}

TrainerRun ReadRun(const Json& json) {
  TrainerRun run;
  json.at("arguments").get_to(run.arguments);
  json.at("working_directory").get_to(run.working_directory);
  json.at("environment").get_to(run.environment);
  json.at("output_file").get_to(run.output_file);
  run.isolation = json.at("namespaces").get<bool>() ? Isolation::kNamespaces
                                                    : Isolation::kNone;
  run.network = json.at("private_network").get<bool>() ? NetworkAccess::kPrivate
                                                       : NetworkAccess::kShared;
  for (const Json& mount : json.at("mounts"))
    run.mounts.push_back({.from = mount.at("from"), .at = mount.at("at")});
  json.at("directories").get_to(run.directories);
  json.at("log_folder").get_to(run.log_folder);
  json.at("log_bytes").get_to(run.log_limits.bytes);
  json.at("log_operations").get_to(run.log_limits.operations);
  for (const Json& injection : json.at("injections"))
    run.injections.push_back(InjectionFromJson(injection));
  json.at("ranks_take_turns").get_to(run.ranks_take_turns);
  run.time_limit = Duration(json.at("time_limit").get<int64_t>());
  run.background_grace = Duration(json.at("background_grace").get<int64_t>());
  json.at("fork_server").get_to(run.fork_server);
  return run;
}

TrainerRunEnd ReadEnd(const Json& json) {
  TrainerRunEnd end;
  json.at("exit_code").get_to(end.exit_code);
  json.at("signal").get_to(end.signal);
  json.at("killed").get_to(end.is_killed);
  json.at("timed_out").get_to(end.is_timed_out);
  json.at("background_processes").get_to(end.background_processes);
  json.at("seconds").get_to(end.seconds);
  json.at("injected_at").get_to(end.injected_at);
  for (const Json& one : json.at("reads"))
    end.reads.push_back(
        {.directory = one.at("directory"), .path = one.at("path")});
  json.at("reads_complete").get_to(end.are_reads_complete);
  for (const Json& one : json.at("made")) {
    end.made.push_back(
        {.directory = one.at("directory"), .path = one.at("path")});
  }
  json.at("notes").get_to(end.notes);
  return end;
}

}  // namespace

std::string ExitText(const TrainerRunEnd& end) {
  return end.signal != 0 ? fmt::format("signal {}", end.signal)
                         : fmt::format("exit code {}", end.exit_code);
}

Result<std::string> TrainerRunToJson(const TrainerRun& run) {
  if (!IsUtf8(run.arguments) || !IsUtf8(run.environment)) {
    return InvalidArgument(
        "the command or its environment: expected UTF-8, found other bytes");
  }
  Json mounts = Json::array();
  for (const DirectoryMount& mount : run.mounts)
    mounts.push_back({{"from", mount.from}, {"at", mount.at}});
  Json injections = Json::array();
  for (const Injection& injection : run.injections)
    injections.push_back(InjectionToJson(injection));
  const Json json = {
      {"arguments", run.arguments},
      {"working_directory", run.working_directory},
      {"environment", run.environment},
      {"output_file", run.output_file},
      {"namespaces", run.isolation == Isolation::kNamespaces},
      {"private_network", run.network == NetworkAccess::kPrivate},
      {"mounts", std::move(mounts)},
      {"directories", run.directories},
      {"log_folder", run.log_folder},
      {"log_bytes", run.log_limits.bytes},
      {"log_operations", run.log_limits.operations},
      {"injections", std::move(injections)},
      {"ranks_take_turns", run.ranks_take_turns},
      {"time_limit", run.time_limit.count()},
      {"background_grace", run.background_grace.count()},
      {"fork_server", run.fork_server},
  };
  return Text(json);
}

Result<TrainerRun> TrainerRunFromJson(const std::string& text) {
  ASSIGN_OR_RETURN(const Json json, ParseFile(text, kRunFile));
  try {
    return ReadRun(json);
  } catch (const Json::exception& error) {
    return DataLoss(fmt::format("{}: {}", kRunFile, error.what()));
  }
}

std::string TrainerRunEndToJson(const Result<TrainerRunEnd>& end) {
  if (!end.ok()) {
    return Text({{"error", static_cast<int>(end.status().code())},
                 {"message", end.status().message()}});
  }
  const auto files_to_json = [](const std::vector<FileRead>& files) {
    Json all = Json::array();
    for (const FileRead& file : files)
      all.push_back({{"directory", file.directory}, {"path", file.path}});
    return all;
  };
  const Json json = {
      {"exit_code", end->exit_code},
      {"signal", end->signal},
      {"killed", end->is_killed},
      {"timed_out", end->is_timed_out},
      {"background_processes", end->background_processes},
      {"seconds", end->seconds},
      {"injected_at", end->injected_at},
      {"reads", files_to_json(end->reads)},
      {"reads_complete", end->are_reads_complete},
      {"made", files_to_json(end->made)},
      {"notes", end->notes},
  };
  return Text(json);
}

Result<TrainerRunEnd> TrainerRunEndFromJson(const std::string& text) {
  ASSIGN_OR_RETURN(const Json json, ParseFile(text, kRunEndFile));
  try {
    if (!json.contains("error")) return ReadEnd(json);
    return Status(static_cast<Code>(json.at("error").get<int>()),
                  json.at("message").get<std::string>());
  } catch (const Json::exception& error) {
    return DataLoss(fmt::format("{}: {}", kRunEndFile, error.what()));
  }
}

}  // namespace gauntlet
