#include "harness/trainer/run/trial.h"

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

TrainerTrial ReadTrial(const Json& json) {
  TrainerTrial trial;
  json.at("arguments").get_to(trial.arguments);
  json.at("working_directory").get_to(trial.working_directory);
  json.at("environment").get_to(trial.environment);
  json.at("output_file").get_to(trial.output_file);
  trial.isolation = json.at("namespaces").get<bool>() ? Isolation::kNamespaces
                                                      : Isolation::kNone;
  trial.network = json.at("private_network").get<bool>()
                      ? NetworkAccess::kPrivate
                      : NetworkAccess::kShared;
  for (const Json& mount : json.at("mounts"))
    trial.mounts.push_back({.from = mount.at("from"), .at = mount.at("at")});
  json.at("directories").get_to(trial.directories);
  json.at("log_folder").get_to(trial.log_folder);
  json.at("log_bytes").get_to(trial.log_limits.bytes);
  json.at("log_operations").get_to(trial.log_limits.operations);
  for (const Json& injection : json.at("injections"))
    trial.injections.push_back(InjectionFromJson(injection));
  json.at("ranks_take_turns").get_to(trial.ranks_take_turns);
  trial.time_limit = Duration(json.at("time_limit").get<int64_t>());
  trial.background_grace = Duration(json.at("background_grace").get<int64_t>());
  json.at("fork_server").get_to(trial.fork_server);
  return trial;
}

TrialEnd ReadEnd(const Json& json) {
  TrialEnd end;
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

std::string ExitText(const TrialEnd& end) {
  return end.signal != 0 ? fmt::format("signal {}", end.signal)
                         : fmt::format("exit code {}", end.exit_code);
}

Result<std::string> TrialToJson(const TrainerTrial& trial) {
  if (!IsUtf8(trial.arguments) || !IsUtf8(trial.environment)) {
    return InvalidArgument(
        "the command or its environment: expected UTF-8, found other bytes");
  }
  Json mounts = Json::array();
  for (const DirectoryMount& mount : trial.mounts)
    mounts.push_back({{"from", mount.from}, {"at", mount.at}});
  Json injections = Json::array();
  for (const Injection& injection : trial.injections)
    injections.push_back(InjectionToJson(injection));
  const Json json = {
      {"arguments", trial.arguments},
      {"working_directory", trial.working_directory},
      {"environment", trial.environment},
      {"output_file", trial.output_file},
      {"namespaces", trial.isolation == Isolation::kNamespaces},
      {"private_network", trial.network == NetworkAccess::kPrivate},
      {"mounts", std::move(mounts)},
      {"directories", trial.directories},
      {"log_folder", trial.log_folder},
      {"log_bytes", trial.log_limits.bytes},
      {"log_operations", trial.log_limits.operations},
      {"injections", std::move(injections)},
      {"ranks_take_turns", trial.ranks_take_turns},
      {"time_limit", trial.time_limit.count()},
      {"background_grace", trial.background_grace.count()},
      {"fork_server", trial.fork_server},
  };
  return Text(json);
}

Result<TrainerTrial> TrialFromJson(const std::string& text) {
  ASSIGN_OR_RETURN(const Json json, ParseFile(text, kTrialFile));
  try {
    return ReadTrial(json);
  } catch (const Json::exception& error) {
    return DataLoss(fmt::format("{}: {}", kTrialFile, error.what()));
  }
}

std::string TrialEndToJson(const Result<TrialEnd>& end) {
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

Result<TrialEnd> TrialEndFromJson(const std::string& text) {
  ASSIGN_OR_RETURN(const Json json, ParseFile(text, kTrialEndFile));
  try {
    if (!json.contains("error")) return ReadEnd(json);
    return Status(static_cast<Code>(json.at("error").get<int>()),
                  json.at("message").get<std::string>());
  } catch (const Json::exception& error) {
    return DataLoss(fmt::format("{}: {}", kTrialEndFile, error.what()));
  }
}

}  // namespace gauntlet
