#include "engine/train/options.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/job/strict_json.h"
#include "engine/world/http.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int>::max();
constexpr int64_t kMaxKeepHours = 1'000'000;  // a century
constexpr int64_t kMaxDuration = Duration::max().count();

Json OptionalToJson(const std::optional<uint64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<uint64_t> OptionalUnsigned(JsonFields& fields,
                                         std::string_view key) {
  if (fields.Any(key).is_null()) return std::nullopt;
  return fields.Unsigned(key);
}

Duration ReadDuration(JsonFields& fields, std::string_view key) {
  return Duration(fields.Integer(key, 1, kMaxDuration));
}

}  // namespace

Duration RegroupGraceOf(const ClusterOptions& cluster) {
  constexpr Duration kLeast = std::chrono::milliseconds(500);
  return std::max(
      kLeast, std::min(cluster.step_timeout, cluster.rendezvous_timeout / 2));
}

std::string_view CollectiveChoiceName(CollectiveChoice choice) {
  switch (choice) {
    case CollectiveChoice::kAuto:
      return "auto";
    case CollectiveChoice::kRing:
      return "ring";
    case CollectiveChoice::kNccl:
      return "nccl";
  }
  return "?";
}

std::string_view RestartPolicyName(RestartPolicy policy) {
  switch (policy) {
    case RestartPolicy::kNone:
      return "none";
    case RestartPolicy::kWholeJob:
      return "whole-job";
    case RestartPolicy::kRejoin:
      return "rejoin";
  }
  return "?";
}

namespace {

std::string_view SaveUnitName(SaveUnit unit) {
  switch (unit) {
    case SaveUnit::kNone:
      return "never";
    case SaveUnit::kSteps:
      return "steps";
    case SaveUnit::kSeconds:
      return "seconds";
    case SaveUnit::kEpochs:
      return "epochs";
  }
  return "?";
}

std::string_view AtSuccessName(AtSuccess at_success) {
  switch (at_success) {
    case AtSuccess::kKeepCheckpoints:
      return "keep";
    case AtSuccess::kDeleteCheckpoints:
      return "delete";
    case AtSuccess::kLeaveCheckpoints:
      return "leave";
  }
  return "?";
}

Json StartToJson(const StartOptions& start) {
  return {{"weights", start.weights},
          {"partial",
           start.partial == PartialWeights::kAllow ? "allow" : "refuse"}};
}

Result<StartOptions> StartFromJson(const Json& json) {
  JsonFields fields(json, "start");
  StartOptions start{.weights = fields.String("weights"),
                     .partial = fields.Choice<PartialWeights>(
                         "partial", {{"allow", PartialWeights::kAllow},
                                     {"refuse", PartialWeights::kRefuse}})};
  RETURN_IF_ERROR(fields.Finish());
  if (!start.weights.empty()) return start;
  return InvalidArgument("start.weights: expected a path, found none");
}

Json HorizonToJson(const Horizon& horizon) {
  return {{"epochs", horizon.epochs},
          {"max_steps", OptionalToJson(horizon.max_steps)},
          {"stop_at_step", OptionalToJson(horizon.stop_at_step)}};
}

Result<Horizon> HorizonFromJson(const Json& json) {
  JsonFields fields(json, "horizon");
  Horizon horizon{.epochs = fields.Unsigned("epochs"),
                  .max_steps = OptionalUnsigned(fields, "max_steps"),
                  .stop_at_step = OptionalUnsigned(fields, "stop_at_step")};
  RETURN_IF_ERROR(fields.Finish());
  return horizon;
}

Json CheckpointToJson(const CheckpointOptions& checkpoint) {
  return {
      {"directory", checkpoint.directory},
      {"unit", SaveUnitName(checkpoint.trigger.unit)},
      {"every", checkpoint.trigger.every},
      {"mode", kSaveModeNames[static_cast<size_t>(checkpoint.mode)]},
      {"shards", checkpoint.shards},
      {"keep", checkpoint.keep},
      {"keep_every_hours", checkpoint.keep_every_hours},
      {"at_success", AtSuccessName(checkpoint.at_success)},
      {"at_notice",
       checkpoint.at_notice == OnPreemption::kSaveAndExit ? "save" : "leave"},
      {"cold_start", checkpoint.allow_cold_start ? "allow" : "refuse"}};
}

Result<CheckpointOptions> CheckpointFromJson(const Json& json) {
  JsonFields fields(json, "checkpoint");
  CheckpointOptions checkpoint;
  checkpoint.directory = fields.String("directory");
  checkpoint.trigger.unit = fields.Choice<SaveUnit>(
      "unit", {{SaveUnitName(SaveUnit::kNone), SaveUnit::kNone},
               {SaveUnitName(SaveUnit::kSteps), SaveUnit::kSteps},
               {SaveUnitName(SaveUnit::kSeconds), SaveUnit::kSeconds},
               {SaveUnitName(SaveUnit::kEpochs), SaveUnit::kEpochs}});
  checkpoint.trigger.every =
      static_cast<uint64_t>(fields.Integer("every", 1, kMaxInt));
  checkpoint.mode = fields.Choice<SaveMode>(
      "mode", {{kSaveModeNames[0], SaveMode::kSync},
               {kSaveModeNames[1], SaveMode::kAsync},
               {kSaveModeNames[2], SaveMode::kZeroCopy}});
  checkpoint.shards = static_cast<int>(fields.Integer("shards", 0, kMaxInt));
  checkpoint.keep = static_cast<int>(fields.Integer("keep", 1, kMaxInt));
  checkpoint.keep_every_hours = static_cast<uint64_t>(
      fields.Integer("keep_every_hours", 0, kMaxKeepHours));
  checkpoint.at_success = fields.Choice<AtSuccess>(
      "at_success", {{AtSuccessName(AtSuccess::kKeepCheckpoints),
                      AtSuccess::kKeepCheckpoints},
                     {AtSuccessName(AtSuccess::kDeleteCheckpoints),
                      AtSuccess::kDeleteCheckpoints},
                     {AtSuccessName(AtSuccess::kLeaveCheckpoints),
                      AtSuccess::kLeaveCheckpoints}});
  checkpoint.at_notice = fields.Choice<OnPreemption>(
      "at_notice",
      {{"save", OnPreemption::kSaveAndExit}, {"leave", OnPreemption::kExit}});
  checkpoint.allow_cold_start =
      fields.Choice<bool>("cold_start", {{"allow", true}, {"refuse", false}});
  RETURN_IF_ERROR(fields.Finish());
  return checkpoint;
}

Json SummaryToJson(const SummaryOptions& summary) {
  return {{"directory", summary.directory}, {"every", summary.every}};
}

Result<SummaryOptions> SummaryFromJson(const Json& json) {
  JsonFields fields(json, "summary");
  SummaryOptions summary{
      .directory = fields.String("directory"),
      .every = static_cast<uint64_t>(fields.Integer("every", 1, kMaxInt))};
  RETURN_IF_ERROR(fields.Finish());
  return summary;
}

Json TlsToJson(const TlsFiles& tls) {
  return {
      {"cert", tls.cert}, {"key", tls.key}, {"ca", tls.ca}, {"name", tls.name}};
}

Result<TlsFiles> TlsFromJson(const Json& json) {
  JsonFields fields(json, "cluster.tls");
  TlsFiles tls{.cert = fields.String("cert"),
               .key = fields.String("key"),
               .ca = fields.String("ca"),
               .name = fields.String("name")};
  RETURN_IF_ERROR(fields.Finish());
  return tls;
}

Json ClusterToJson(const ClusterOptions& cluster) {
  Json json = {
      {"heartbeat_every_ns", cluster.heartbeat_every.count()},
      {"lost_after_ns", cluster.lost_after.count()},
      {"rendezvous_timeout_ns", cluster.rendezvous_timeout.count()},
      {"step_timeout_ns", cluster.step_timeout.count()},
      {"save_timeout_ns", cluster.save_timeout.count()},
      {"on_loss", cluster.on_loss == OnLoss::kLeave ? "leave" : "rejoin"}};
  if (cluster.collective != CollectiveChoice::kAuto) {
    json["collective"] = CollectiveChoiceName(cluster.collective);
  }
  if (cluster.tls.used()) json["tls"] = TlsToJson(cluster.tls);
  return json;
}

Result<ClusterOptions> ClusterFromJson(const Json& json) {
  JsonFields fields(json, "cluster");
  ClusterOptions cluster{
      .heartbeat_every = ReadDuration(fields, "heartbeat_every_ns"),
      .lost_after = ReadDuration(fields, "lost_after_ns"),
      .rendezvous_timeout = ReadDuration(fields, "rendezvous_timeout_ns"),
      .step_timeout = ReadDuration(fields, "step_timeout_ns"),
      .save_timeout = ReadDuration(fields, "save_timeout_ns"),
      .on_loss = fields.Choice<OnLoss>(
          "on_loss", {{"leave", OnLoss::kLeave}, {"rejoin", OnLoss::kRejoin}})};
  if (fields.Maybe("collective") != nullptr) {
    cluster.collective = fields.Choice<CollectiveChoice>(
        "collective",
        {{"ring", CollectiveChoice::kRing}, {"nccl", CollectiveChoice::kNccl}});
  }
  if (const Json* const tls = fields.Maybe("tls")) {
    ASSIGN_OR_RETURN(cluster.tls, TlsFromJson(*tls));
  }
  RETURN_IF_ERROR(fields.Finish());
  return cluster;
}

Json PreemptionToJson(const PreemptionOptions& preemption) {
  return {{"grace_ns", preemption.grace.count()},
          {"signal", preemption.signal},
          {"file", preemption.file},
          {"url", preemption.url},
          {"poll_every_ns", preemption.poll_every.count()}};
}

Result<PreemptionOptions> PreemptionFromJson(const Json& json) {
  JsonFields fields(json, "preemption");
  PreemptionOptions preemption{
      .grace = Duration(fields.Integer("grace_ns", 0, kMaxDuration)),
      .signal = fields.String("signal"),
      .file = fields.String("file"),
      .url = fields.String("url"),
      .poll_every = ReadDuration(fields, "poll_every_ns")};
  RETURN_IF_ERROR(fields.Finish());
  if (!preemption.signal.empty() &&
      std::ranges::find(NoticeSignals(), preemption.signal) ==
          NoticeSignals().end()) {
    return InvalidArgument(fmt::format(
        "preemption.signal: expected one of {}, found \"{}\"",
        fmt::join(NoticeSignals(), ", "), preemption.signal.substr(0, 40)));
  }
  if (!preemption.url.empty()) {
    const Status url = ParseHttpUrl(preemption.url).status();
    if (!url.ok()) return Annotate(url, "preemption.url");
  }
  return preemption;
}

Json KernelsToJson(const KernelOptions& kernels) {
  Json json = {{"isa", IsaName(kernels.isa)},
               {"threads", kernels.threads},
               {"math", MathName(kernels.math)}};
  if (kernels.device != DeviceKind::kCpu) {
    json["device"] = DeviceKindName(kernels.device);
  }
  for (const DeviceKind device : kernels.device_by_life) {
    json["device_by_life"].push_back(DeviceKindName(device));
  }
  return json;
}

Result<std::vector<DeviceKind>> DevicesFromJson(const Json& json) {
  constexpr std::string_view kExpected =
      "kernels.device_by_life: expected a list of cpu, cuda and emulated";
  if (!json.is_array()) return InvalidArgument(std::string(kExpected));
  std::vector<DeviceKind> devices;
  for (const Json& name : json) {
    for (const DeviceKind kind :
         {DeviceKind::kCpu, DeviceKind::kCuda, DeviceKind::kEmulated}) {
      if (name == DeviceKindName(kind)) devices.push_back(kind);
    }
  }
  if (devices.empty() || devices.size() != json.size()) {
    return InvalidArgument(std::string(kExpected));
  }
  return devices;
}

Result<KernelOptions> KernelsFromJson(const Json& json) {
  JsonFields fields(json, "kernels");
  KernelOptions kernels;
  kernels.isa =
      fields.Choice<Isa>("isa", {{IsaName(Isa::kAuto), Isa::kAuto},
                                 {IsaName(Isa::kScalar), Isa::kScalar},
                                 {IsaName(Isa::kAvx2), Isa::kAvx2},
                                 {IsaName(Isa::kAvx512), Isa::kAvx512}});
  kernels.threads = static_cast<int>(fields.Integer("threads", 1, 256));
  kernels.math =
      fields.Choice<Math>("math", {{"canonical", Math::kCanonical},
                                   {"library", Math::kFast},
                                   {"library-tf32", Math::kFastTf32}});
  if (fields.Maybe("device") != nullptr) {
    kernels.device = fields.Choice<DeviceKind>(
        "device",
        {{"cuda", DeviceKind::kCuda}, {"emulated", DeviceKind::kEmulated}});
  }
  if (const Json* by_life = fields.Maybe("device_by_life")) {
    ASSIGN_OR_RETURN(kernels.device_by_life, DevicesFromJson(*by_life));
  }
  RETURN_IF_ERROR(fields.Finish());
  return kernels;
}

// Placeholder for the digest of the data, which is unknown here. No worker uses
// it: each reads the data itself.
constexpr Digest kUnknownData;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<TrainOptions> FromObject(const Json& json) {
  JsonFields fields(json, "");
  const Json& job = fields.Any("job");
  const Json& horizon = fields.Any("horizon");
  const Json& checkpoint = fields.Any("checkpoint");
  const Json* const start = fields.Maybe("start");
  const Json* const summary = fields.Maybe("summary");
  const Json& cluster = fields.Any("cluster");
  const Json& preemption = fields.Any("preemption");
  const Json& kernels = fields.Any("kernels");
  TrainOptions options;
  if (fields.Maybe("export") != nullptr) {
    options.export_directory = fields.String("export");
  }
  if (fields.Maybe("steps_per_execution") != nullptr) {
    options.steps_per_execution = static_cast<uint64_t>(
        fields.Integer("steps_per_execution", 2, kMaxInt));
  }
  if (fields.Maybe("on_not_finite") != nullptr) {
    options.on_not_finite = fields.Choice<OnNotFinite>(
        "on_not_finite", {{"stop", OnNotFinite::kStop}});
  }
  options.digest_every = fields.Unsigned("digest_every");
  options.log_samples =
      fields.Choice<bool>("sample_ledger", {{"off", false}, {"on", true}});
  RETURN_IF_ERROR(fields.Finish());
  ASSIGN_OR_RETURN(options.job, JobFromJson(Dump(job)));
  if (!options.job.saved.empty()) {
    return InvalidArgument(
        "job.saved: expected none: only a loop of one's own leaves any out");
  }
  ASSIGN_OR_RETURN(options.horizon, HorizonFromJson(horizon));
  ASSIGN_OR_RETURN(options.checkpoint, CheckpointFromJson(checkpoint));
  if (start != nullptr) {
    ASSIGN_OR_RETURN(options.start, StartFromJson(*start));
  }
  if (summary != nullptr) {
    ASSIGN_OR_RETURN(options.summary, SummaryFromJson(*summary));
  }
  ASSIGN_OR_RETURN(options.cluster, ClusterFromJson(cluster));
  ASSIGN_OR_RETURN(options.preemption, PreemptionFromJson(preemption));
  ASSIGN_OR_RETURN(options.kernels, KernelsFromJson(kernels));
  return options;
}

}  // namespace

std::span<const std::string_view> NoticeSignals() {
  static constexpr std::array<std::string_view, 7> kSignals = {
      "SIGTERM", "SIGHUP",  "SIGQUIT", "SIGUSR1",
      "SIGUSR2", "SIGXCPU", "SIGPWR"};
  return kSignals;
}

std::string TrainOptionsToJson(const TrainOptions& options) {
  Result<Json> job =
      ParseStrictJson(JobToJson(options.job, kUnknownData), "job");
  Json json = {{"job", std::move(job).value()},
               {"horizon", HorizonToJson(options.horizon)},
               {"checkpoint", CheckpointToJson(options.checkpoint)}};
  // Options that are not set are left out of the text.
  if (!options.start.weights.empty()) {
    json["start"] = StartToJson(options.start);
  }
  if (!options.summary.directory.empty()) {
    json["summary"] = SummaryToJson(options.summary);
  }
  if (!options.export_directory.empty()) {
    json["export"] = options.export_directory;
  }
  json["cluster"] = ClusterToJson(options.cluster);
  json["preemption"] = PreemptionToJson(options.preemption);
  json["kernels"] = KernelsToJson(options.kernels);
  if (options.steps_per_execution > 1) {
    json["steps_per_execution"] = options.steps_per_execution;
  }
  if (options.on_not_finite == OnNotFinite::kStop) {
    json["on_not_finite"] = "stop";
  }
  json["digest_every"] = options.digest_every;
  json["sample_ledger"] = options.log_samples ? "on" : "off";
  return Dump(json);
}

Result<TrainOptions> TrainOptionsFromJson(std::string_view json) {
  ASSIGN_OR_RETURN(const Json value, ParseStrictJson(json, "options"));
  Result<TrainOptions> options = FromObject(value);
  if (!options.ok()) return Annotate(options.status(), "options");
  return options;
}

}  // namespace gauntlet
