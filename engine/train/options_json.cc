#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/job/strict_json.h"
#include "engine/train/launcher_options.h"
#include "engine/train/options.h"
#include "engine/world/http.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int>::max();
constexpr int64_t kMaxDuration = Duration::max().count();

// Names of values in the JSON text. If a field may be omitted (ChoiceIfSet),
// its default is the first value.
constexpr ValueNames<PartialWeights, 2> kPartialWeightsNames = {
    {{"allow", PartialWeights::kAllow}, {"refuse", PartialWeights::kRefuse}}};
constexpr ValueNames<SaveUnit, 4> kSaveUnitNames = {
    {{"never", SaveUnit::kNone},
     {"steps", SaveUnit::kSteps},
     {"seconds", SaveUnit::kSeconds},
     {"epochs", SaveUnit::kEpochs}}};
constexpr ValueNames<SaveMode, 3> kModeNames = {
    {{kSaveModeNames[0], SaveMode::kSync},
     {kSaveModeNames[1], SaveMode::kAsync},
     {kSaveModeNames[2], SaveMode::kZeroCopy}}};
constexpr ValueNames<AtSuccess, 3> kAtSuccessNames = {
    {{"keep", AtSuccess::kSaveFinalState},
     {"delete", AtSuccess::kDeleteCheckpoints},
     {"leave", AtSuccess::kLeaveCheckpoints}}};
constexpr ValueNames<OnPreemption, 2> kOnPreemptionNames = {
    {{"save", OnPreemption::kSaveAndExit}, {"leave", OnPreemption::kExit}}};
constexpr ValueNames<bool, 2> kColdStartNames = {
    {{"allow", true}, {"refuse", false}}};
constexpr ValueNames<OnLoss, 2> kOnLossNames = {
    {{"leave", OnLoss::kLeave}, {"rejoin", OnLoss::kRejoin}}};
constexpr ValueNames<CollectiveChoice, 3> kCollectiveNames = {
    {{"auto", CollectiveChoice::kAuto},
     {"ring", CollectiveChoice::kRing},
     {"nccl", CollectiveChoice::kNccl}}};
constexpr ValueNames<OnNotFinite, 2> kOnNotFiniteNames = {
    {{"train on", OnNotFinite::kTrainOn}, {"stop", OnNotFinite::kStop}}};
// kAuto has no name: before the program writes the options, it replaces kAuto
// by the kind of the device that it found.
constexpr ValueNames<DeviceKind, 3> kDeviceNames = {
    {{"cpu", DeviceKind::kCpu},
     {"cuda", DeviceKind::kCuda},
     {"emulated", DeviceKind::kEmulated}}};
constexpr ValueNames<bool, 2> kOnOffNames = {{{"off", false}, {"on", true}}};

template <typename T, size_t kCount>
std::string_view NameOf(T value, const ValueNames<T, kCount>& names) {
  for (const auto& [name, choice] : names) {
    if (choice == value) return name;
  }
  return "?";
}

// A field of the JSON text. If `agreed` is not empty, workers compare the
// field's value under this name (AgreedSettings).
struct OptionField {
  std::string_view name;
  std::string_view agreed = "";
};

// The Describe functions are the one description of the options. `fields` is a
// writer, a reader or a list of agreed settings. The functions named …IfSet and
// …IfAbove are for optional fields: the writer omits such a field if it has its
// default value.

template <typename Fields>
void Describe(Fields& fields,
              typename Fields::template Ref<StartOptions> start) {
  fields.Text({"weights"}, start.weights);
  fields.Choice({"partial"}, start.partial, kPartialWeightsNames);
}

template <typename Fields>
void Describe(Fields& fields, typename Fields::template Ref<Horizon> horizon) {
  fields.Unsigned({"epochs", "epochs"}, horizon.epochs);
  fields.UnsignedOrNull({"max_steps", "max_steps"}, horizon.max_steps);
  fields.UnsignedOrNull({"stop_at_step", "stop_at_step"}, horizon.stop_at_step);
}

template <typename Fields>
void Describe(Fields& fields,
              typename Fields::template Ref<CheckpointOptions> checkpoint) {
  fields.Text({"directory"}, checkpoint.directory);
  fields.Choice({"unit", "checkpoint.unit"}, checkpoint.trigger.unit,
                kSaveUnitNames);
  fields.Whole({"every", "checkpoint.every"}, checkpoint.trigger.every, 1,
               kMaxInt);
  fields.Choice({"on_success", "checkpoint.on_success"}, checkpoint.at_success,
                kAtSuccessNames);
  fields.Choice({"at_notice", "checkpoint.at_notice"}, checkpoint.at_notice,
                kOnPreemptionNames);
  fields.Whole({"shards", "checkpoint.shards"}, checkpoint.shards, 0, kMaxInt);
  fields.Choice({"mode", "checkpoint.mode"}, checkpoint.mode, kModeNames);
  fields.Agreed("checkpoint.used", checkpoint.directory.empty() ? "no" : "yes");
  fields.Whole({"keep"}, checkpoint.keep, 1, kMaxInt);
  fields.Whole({"keep_every_hours"}, checkpoint.keep_every_hours, 0,
               kMaxKeepHours);
  fields.Choice({"cold_start"}, checkpoint.allow_cold_start, kColdStartNames);
}

template <typename Fields>
void Describe(Fields& fields,
              typename Fields::template Ref<SummaryOptions> summary) {
  fields.Text({"directory"}, summary.directory);
  fields.Whole({"every"}, summary.every, 1, kMaxInt);
}

template <typename Fields>
void Describe(Fields& fields, typename Fields::template Ref<TlsFiles> tls) {
  fields.Text({"cert"}, tls.cert);
  fields.Text({"key"}, tls.key);
  fields.Text({"ca"}, tls.ca);
  fields.Text({"name"}, tls.name);
}

template <typename Fields>
void Describe(Fields& fields,
              typename Fields::template Ref<ClusterOptions> cluster) {
  fields.Time({"heartbeat_every_ns"}, cluster.heartbeat_every, 1);
  fields.Time({"lost_after_ns"}, cluster.lost_after, 1);
  fields.Time({"rendezvous_timeout_ns"}, cluster.rendezvous_timeout, 1);
  fields.Time({"step_timeout_ns"}, cluster.step_timeout, 1);
  fields.Time({"save_timeout_ns"}, cluster.save_timeout, 1);
  fields.Choice({"on_loss", "on_loss"}, cluster.on_loss, kOnLossNames);
  fields.ChoiceIfSet({"collective", "collective"}, cluster.collective,
                     kCollectiveNames);
  fields.PartIfSet("tls", cluster.tls, cluster.tls.is_set());
}

template <typename Fields>
void Describe(Fields& fields,
              typename Fields::template Ref<PreemptionOptions> preemption) {
  fields.Time({"grace_ns"}, preemption.grace, 0);
  fields.Text({"signal"}, preemption.signal);
  fields.Text({"file"}, preemption.file);
  fields.Text({"url"}, preemption.url);
  fields.Time({"poll_every_ns"}, preemption.poll_every, 1);
}

template <typename Fields>
void Describe(Fields& fields,
              typename Fields::template Ref<KernelOptions> kernels) {
  fields.Choice({"isa"}, kernels.isa, kIsaNames);
  fields.Whole({"threads"}, kernels.threads, 1, kMaxThreads);
  fields.Choice({"math", "math"}, kernels.math, kMathNames);
  fields.ChoiceIfSet({"device"}, kernels.device, kDeviceNames);
  fields.DevicesIfSet({"device_per_attempt"}, kernels.device_per_attempt);
}

template <typename Fields>
void Describe(Fields& fields,
              typename Fields::template Ref<TrainOptions> options) {
  fields.Job({"job"}, options.job);
  fields.Part("horizon", options.horizon);
  fields.Part("checkpoint", options.checkpoint);
  fields.PartIfSet("start", options.start, !options.start.weights.empty());
  fields.PartIfSet("summary", options.summary,
                   !options.summary.directory.empty());
  fields.TextIfSet({"export"}, options.export_directory);
  fields.Part("cluster", options.cluster);
  fields.Part("preemption", options.preemption);
  fields.ChoiceIfSet({"on_not_finite", "on_not_finite"}, options.on_not_finite,
                     kOnNotFiniteNames);
  fields.WholeIfAbove(1, {"steps_per_execution", "steps_per_execution"},
                      options.steps_per_execution, kMaxInt);
  fields.Part("kernels", options.kernels);
  fields.Unsigned({"digest_every"}, options.digest_every);
  fields.Choice({"sample_ledger"}, options.log_samples, kOnOffNames);
}

template <typename Fields>
void Describe(Fields& fields,
              typename Fields::template Ref<LauncherOptions> launcher) {
  fields.Whole({"workers"}, launcher.workers, 1, kMaxReplicas);
  fields.Whole({"min_workers"}, launcher.min_workers, 0, kMaxReplicas);
  fields.WholesIfSet({"workers_per_attempt"}, launcher.workers_per_attempt, 1,
                     kMaxReplicas);
  fields.Choice({"restart"}, launcher.restart, kRestartPolicyNames);
  fields.Whole({"max_restarts"}, launcher.max_restarts, 0, kMaxInt);
  fields.Whole({"max_fruitless"}, launcher.max_restarts_without_progress, 0,
               kMaxInt);
  fields.Time({"backoff_ns"}, launcher.backoff, 0);
  fields.Time({"max_backoff_ns"}, launcher.max_backoff, 0);
  fields.Time({"survivors_grace_ns"}, launcher.survivors_grace, 0);
  fields.Time({"start_timeout_ns"}, launcher.start_timeout, 1);
  fields.Whole({"first_incarnation"}, launcher.first_incarnation, 1, kMaxInt);
}

template <typename Fields>
void Describe(Fields& fields,
              typename Fields::template Ref<LaunchOptions> options) {
  fields.Part("train", options.train);
  fields.Part("launcher", options.launcher);
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Placeholder for the digest of the data, which is unknown here. No worker uses
// the placeholder: each computes the digest of the data that it reads.
constexpr Digest kUnknownData;

// Writes the fields of one JSON object.
class OptionsWriter {
 public:
  template <typename T>
  using Ref = const T&;

  void Text(OptionField field, const std::string& value) { Add(field, value); }
  void TextIfSet(OptionField field, const std::string& value) {
    if (!value.empty()) Add(field, value);
  }
  void Unsigned(OptionField field, uint64_t value) { Add(field, value); }
  void UnsignedOrNull(OptionField field, const std::optional<uint64_t>& value) {
    Add(field, value ? Json(*value) : Json(nullptr));
  }
  template <std::integral T>
  void Whole(OptionField field, T value, int64_t, int64_t) {
    Add(field, value);
  }
  template <std::integral T>
  void WholeIfAbove(int64_t unset, OptionField field, T value, int64_t) {
    if (std::cmp_greater(value, unset)) Add(field, value);
  }
  void Time(OptionField field, Duration value, int64_t) {
    Add(field, value.count());
  }
  template <typename T, size_t kCount>
  void Choice(OptionField field, T value, const ValueNames<T, kCount>& names) {
    Add(field, NameOf(value, names));
  }
  template <typename T, size_t kCount>
  void ChoiceIfSet(OptionField field, T value,
                   const ValueNames<T, kCount>& names) {
    if (value != names[0].second) Add(field, NameOf(value, names));
  }
  void DevicesIfSet(OptionField field, const std::vector<DeviceKind>& devices) {
    Json names = Json::array();
    for (const DeviceKind device : devices) {
      names.push_back(NameOf(device, kDeviceNames));
    }
    if (!names.empty()) Add(field, std::move(names));
  }
  void WholesIfSet(OptionField field, const std::vector<int>& values, int,
                   int) {
    if (!values.empty()) Add(field, values);
  }
  void Job(OptionField field, const JobSpec& job) {
    Add(field, ParseStrictJson(JobToJson(job, kUnknownData), "job").value());
  }
  template <typename T>
  void Part(std::string_view name, const T& part) {
    OptionsWriter fields;
    Describe(fields, part);
    Add({name}, std::move(fields.json_));
  }
  template <typename T>
  void PartIfSet(std::string_view name, const T& part, bool is_set) {
    if (is_set) Part(name, part);
  }
  void Agreed(std::string_view, std::string_view) {}

  std::string ToString() const { return Dump(json_); }

 private:
  void Add(OptionField field, Json value) {
    json_[std::string(field.name)] = std::move(value);
  }

  Json json_ = Json::object();
};

// Each CheckRead checks the values of a part that OptionsReader has read.
Status CheckRead(const StartOptions& start) {
  if (!start.weights.empty()) return OkStatus();
  return InvalidArgument("start.weights: expected a path, found none");
}

Status CheckRead(const PreemptionOptions& preemption) {
  const std::span<const std::string_view> signals = NoticeSignals();
  if (!preemption.signal.empty() &&
      std::ranges::find(signals, preemption.signal) == signals.end()) {
    return InvalidArgument(
        fmt::format("preemption.signal: expected one of {}, found \"{}\"",
                    fmt::join(signals, ", "), preemption.signal.substr(0, 40)));
  }
  if (preemption.url.empty()) return OkStatus();
  return Annotate(ParseHttpUrl(preemption.url).status(), "preemption.url");
}

Status CheckRead(const LauncherOptions& launcher) {
  const auto check = [&](std::string_view name, int low, int found) {
    if (found >= low && found <= launcher.workers) return OkStatus();
    return InvalidArgument(
        fmt::format("launcher.{}: expected {} to {} workers, found {}", name,
                    low, launcher.workers, found));
  };
  RETURN_IF_ERROR(check("min_workers", 0, launcher.min_workers));
  for (const int workers : launcher.workers_per_attempt) {
    RETURN_IF_ERROR(check("workers_per_attempt",
                          std::max(launcher.min_workers, 1), workers));
  }
  return OkStatus();
}

template <typename T>
Status CheckRead(const T&) {
  return OkStatus();
}

Status ReadDevices(const Json& json, std::vector<DeviceKind>& devices) {
  constexpr std::string_view kExpected =
      "kernels.device_per_attempt: expected a list of cpu, cuda and emulated";
  if (!json.is_array()) return InvalidArgument(std::string(kExpected));
  for (const Json& found : json) {
    for (const auto& [name, kind] : kDeviceNames) {
      if (found == name) devices.push_back(kind);
    }
  }
  if (devices.empty() || devices.size() != json.size()) {
    return InvalidArgument(std::string(kExpected));
  }
  return OkStatus();
}

Status ReadWholes(const Json& json, std::string_view path, int low, int high,
                  std::vector<int>& values) {
  const bool is_list =
      json.is_array() && !json.empty() &&
      std::ranges::all_of(json, [&](const Json& value) {
        return value.is_number_integer() && value >= low && value <= high;
      });
  if (!is_list) {
    return InvalidArgument(fmt::format(
        "{}: expected a list of integers from {} to {}", path, low, high));
  }
  values = json.get<std::vector<int>>();
  return OkStatus();
}

Status ReadJob(const Json& json, JobSpec& job) {
  ASSIGN_OR_RETURN(job, JobFromJson(Dump(json)));
  if (job.saved.empty()) return OkStatus();
  return InvalidArgument(
      "job.saved: expected an empty list: only a custom training loop may "
      "leave tensors out");
}

// Reads the fields of one JSON object. Finish reads the nested objects, so that
// an error in the object itself is reported first.
class OptionsReader {
 public:
  template <typename T>
  using Ref = T&;

  // `json` outlives the reader.
  OptionsReader(const Json& json, std::string path)
      : fields_(json, std::move(path)) {}

  // Reads an object and checks its values.
  template <typename T>
  static Status Read(const Json& json, std::string path, T& part) {
    OptionsReader fields(json, std::move(path));
    Describe(fields, part);
    RETURN_IF_ERROR(fields.Finish());
    return CheckRead(part);
  }

  void Text(OptionField field, std::string& value) {
    value = fields_.String(field.name);
  }
  void TextIfSet(OptionField field, std::string& value) {
    if (fields_.Maybe(field.name) != nullptr) Text(field, value);
  }
  void Unsigned(OptionField field, uint64_t& value) {
    value = fields_.Unsigned(field.name);
  }
  void UnsignedOrNull(OptionField field, std::optional<uint64_t>& value) {
    if (fields_.Any(field.name).is_null()) {
      value.reset();
    } else {
      value = fields_.Unsigned(field.name);
    }
  }
  template <std::integral T>
  void Whole(OptionField field, T& value, int64_t low, int64_t high) {
    value = static_cast<T>(fields_.Integer(field.name, low, high));
  }
  template <std::integral T>
  void WholeIfAbove(int64_t unset, OptionField field, T& value, int64_t high) {
    if (fields_.Maybe(field.name) == nullptr) return;
    Whole(field, value, unset + 1, high);
  }
  void Time(OptionField field, Duration& value, int64_t low) {
    value = Duration(fields_.Integer(field.name, low, kMaxDuration));
  }
  template <typename T, size_t kCount>
  void Choice(OptionField field, T& value, const ValueNames<T, kCount>& names) {
    value = fields_.ChoiceAmong(field.name, names);
  }
  template <typename T, size_t kCount>
  void ChoiceIfSet(OptionField field, T& value,
                   const ValueNames<T, kCount>& names) {
    if (fields_.Maybe(field.name) == nullptr) return;
    value = fields_.ChoiceAmong(field.name, std::span(names).subspan(1));
  }
  void DevicesIfSet(OptionField field, std::vector<DeviceKind>& devices) {
    const Json* const json = fields_.Maybe(field.name);
    if (json == nullptr) return;
    parts_.emplace_back([=, &devices] { return ReadDevices(*json, devices); });
  }
  void WholesIfSet(OptionField field, std::vector<int>& values, int low,
                   int high) {
    const Json* const json = fields_.Maybe(field.name);
    if (json == nullptr) return;
    parts_.emplace_back([=, path = fields_.PathOf(field.name), &values] {
      return ReadWholes(*json, path, low, high, values);
    });
  }
  void Job(OptionField field, JobSpec& job) {
    const Json& json = fields_.Any(field.name);
    parts_.emplace_back([&json, &job] { return ReadJob(json, job); });
  }
  template <typename T>
  void Part(std::string_view name, T& part) {
    AddPart(name, fields_.Any(name), part);
  }
  template <typename T>
  void PartIfSet(std::string_view name, T& part, bool) {
    if (const Json* json = fields_.Maybe(name)) AddPart(name, *json, part);
  }
  void Agreed(std::string_view, std::string_view) {}

 private:
  template <typename T>
  void AddPart(std::string_view name, const Json& json, T& part) {
    parts_.emplace_back([&json, path = fields_.PathOf(name), &part] {
      return Read(json, path, part);
    });
  }
  Status Finish() const {
    RETURN_IF_ERROR(fields_.Finish());
    for (const auto& read : parts_) RETURN_IF_ERROR(read());
    return OkStatus();
  }

  JsonFields fields_;
  std::vector<std::function<Status()>> parts_;
};

// Lists the fields whose values must be equal on all ranks.
class AgreedFields {
 public:
  template <typename T>
  using Ref = const T&;

  void Text(OptionField, const std::string&) {}
  void TextIfSet(OptionField, const std::string&) {}
  void Unsigned(OptionField field, uint64_t value) {
    Agreed(field.agreed, std::to_string(value));
  }
  void UnsignedOrNull(OptionField field, const std::optional<uint64_t>& value) {
    Agreed(field.agreed, value ? std::to_string(*value) : "none");
  }
  template <std::integral T>
  void Whole(OptionField field, T value, int64_t, int64_t) {
    Agreed(field.agreed, std::to_string(value));
  }
  template <std::integral T>
  void WholeIfAbove(int64_t, OptionField field, T value, int64_t) {
    Agreed(field.agreed, std::to_string(value));
  }
  void Time(OptionField, Duration, int64_t) {}
  template <typename T, size_t kCount>
  void Choice(OptionField field, T value, const ValueNames<T, kCount>& names) {
    Agreed(field.agreed, std::string(NameOf(value, names)));
  }
  template <typename T, size_t kCount>
  void ChoiceIfSet(OptionField field, T value,
                   const ValueNames<T, kCount>& names) {
    Choice(field, value, names);
  }
  void DevicesIfSet(OptionField, const std::vector<DeviceKind>&) {}
  void Job(OptionField, const JobSpec&) {}
  template <typename T>
  void Part(std::string_view, const T& part) {
    Describe(*this, part);
  }
  template <typename T>
  void PartIfSet(std::string_view, const T& part, bool) {
    Describe(*this, part);
  }
  void Agreed(std::string_view name, std::string value) {
    if (!name.empty()) settings_.push_back({name, std::move(value)});
  }

  std::vector<AgreedSetting> Take() { return std::move(settings_); }

 private:
  std::vector<AgreedSetting> settings_;
};

template <typename Options>
std::string ToJson(const Options& options) {
  OptionsWriter fields;
  Describe(fields, options);
  return fields.ToString();
}

template <typename Options>
Result<Options> FromJson(std::string_view json) {
  ASSIGN_OR_RETURN(const Json value, ParseStrictJson(json, "options"));
  Options options;
  RETURN_IF_ERROR(Annotate(OptionsReader::Read(value, "", options), "options"));
  return options;
}

}  // namespace

std::string TrainOptionsToJson(const TrainOptions& options) {
  return ToJson(options);
}

Result<TrainOptions> TrainOptionsFromJson(std::string_view json) {
  return FromJson<TrainOptions>(json);
}

std::string LaunchOptionsToJson(const LaunchOptions& options) {
  return ToJson(options);
}

Result<LaunchOptions> LaunchOptionsFromJson(std::string_view json) {
  ASSIGN_OR_RETURN(LaunchOptions options, FromJson<LaunchOptions>(json));
  SetDerived(options.train, options.launcher);
  return options;
}

std::vector<AgreedSetting> AgreedSettings(const TrainOptions& options) {
  AgreedFields fields;
  Describe(fields, options);
  return fields.Take();
}

}  // namespace gauntlet
