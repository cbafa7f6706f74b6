#include "engine/app/train/job_flags.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Accepts every finite number; Validate checks its range.
Result<float> ParseReal(const std::string& text) {
  float value = 0.0f;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && std::isfinite(value)) return value;
  return ExpectedValue("a number", text);
}

FlagReader ReadReal(std::optional<float>& target) {
  return [&target](const std::string& text) -> Status {
    ASSIGN_OR_RETURN(target, ParseReal(text));
    return OkStatus();
  };
}

// Texts between the colons of a schedule, without its kind: "1000", "0.1".
using Parts = std::span<const std::string>;

Status TakeExponential(Parts parts, ScheduleSpec& schedule) {
  schedule.kind = ScheduleKind::kExponentialDecay;
  ASSIGN_OR_RETURN(schedule.steps,
                   ParseWhole<uint64_t>(parts[0], 1, kMaxUpdates));
  ASSIGN_OR_RETURN(schedule.rate, ParseReal(parts[1]));
  schedule.staircase = parts.size() == 3;
  if (!schedule.staircase || parts[2] == "staircase") return OkStatus();
  return ExpectedValue("staircase", parts[2]);
}

Status TakeCosine(Parts parts, ScheduleSpec& schedule) {
  schedule.kind = ScheduleKind::kCosineDecay;
  ASSIGN_OR_RETURN(schedule.steps,
                   ParseWhole<uint64_t>(parts[0], 1, kMaxUpdates));
  if (parts.size() == 1) return OkStatus();
  ASSIGN_OR_RETURN(schedule.alpha, ParseReal(parts[1]));
  return OkStatus();
}

Status TakePiecewise(Parts parts, ScheduleSpec& schedule) {
  schedule.kind = ScheduleKind::kPiecewise;
  for (const std::string& boundary : Split(parts[0], ',')) {
    ASSIGN_OR_RETURN(schedule.boundaries.emplace_back(),
                     ParseWhole<uint64_t>(boundary, 0, kMaxUpdates));
  }
  for (const std::string& value : Split(parts[1], ',')) {
    ASSIGN_OR_RETURN(schedule.values.emplace_back(), ParseReal(value));
  }
  return OkStatus();
}

struct ScheduleForm {
  std::string_view kind;
  size_t fewest = 0;
  size_t most = 0;
  Status (*take)(Parts parts, ScheduleSpec& schedule) = nullptr;
};

constexpr ScheduleForm kScheduleForms[] = {
    {"exponential_decay", 2, 3, TakeExponential},
    {"cosine_decay", 1, 2, TakeCosine},
    {"piecewise", 2, 2, TakePiecewise},
};

// Returns a reader of schedules such as "cosine_decay:1000:0.1".
FlagReader ReadSchedule(std::optional<ScheduleSpec>& target) {
  return [&target](const std::string& text) -> Status {
    const std::vector<std::string> parts = Split(text, ':');
    for (const ScheduleForm& form : kScheduleForms) {
      const size_t count = parts.size() - 1;
      if (parts[0] != form.kind || count < form.fewest || count > form.most) {
        continue;
      }
      return form.take(Parts(parts).subspan(1), target.emplace());
    }
    return ExpectedValue(
        "exponential_decay:UPDATES:RATE[:staircase], "
        "cosine_decay:UPDATES[:ALPHA] or piecewise:UPDATE,…:RATE,RATE,…",
        text);
  };
}

// Returns a reader of clipping such as "global_norm:1.5".
FlagReader ReadClip(std::optional<ClipSpec>& target) {
  return [&target](const std::string& text) -> Status {
    const std::vector<std::string> parts = Split(text, ':');
    for (const auto& [name, kind] : {std::pair{"value", ClipKind::kValue},
                                     {"norm", ClipKind::kNorm},
                                     {"global_norm", ClipKind::kGlobalNorm}}) {
      if (parts.size() != 2 || parts[0] != name) continue;
      ASSIGN_OR_RETURN(const float limit, ParseReal(parts[1]));
      target = ClipSpec{.kind = kind, .limit = limit};
      return OkStatus();
    }
    return ExpectedValue("value:LIMIT, norm:LIMIT or global_norm:LIMIT", text);
  };
}

Result<JobSpec> TakePreset(const JobFlags& values) {
  if (values.file) return *values.file;
  const std::string name = values.preset.value_or("tiny");
  std::vector<std::string> names;
  for (const PresetInfo& info : AllPresets()) names.emplace_back(info.name);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return InvalidArgument(fmt::format(
        "--preset: expected one of {}, found {}{}", fmt::join(names, ", "),
        Quoted(name), DidYouMean(name, names)));
  }
  return PresetJob(name);
}

// Prefixes of --data, each the kind of the files in the folder after it.
constexpr std::pair<std::string_view, DataKind> kDataPrefixes[] = {
    {"idx:", DataKind::kIdx},
    {"cifar10:", DataKind::kCifar10},
    {"npy:", DataKind::kNpy}};

// Reads "digits", "mnist/", "cifar10:/data/cifar-10-batches-bin".
Status TakeFiles(std::string_view path, DataSpec& data) {
  data.kind = DataKind::kDigits;
  data.path.clear();
  data.validation_path.clear();
  if (path == "digits") return OkStatus();
  data.kind = DataKind::kIdx;
  for (const auto& [prefix, kind] : kDataPrefixes) {
    if (!path.starts_with(prefix)) continue;
    data.kind = kind;
    path.remove_prefix(prefix.size());
    break;
  }
  data.path = path;
  if (!path.empty()) return OkStatus();
  return InvalidArgument("--data: expected a folder after the kind");
}

Status TakeSource(const JobFlags& values, DataSpec& data) {
  if (values.data) RETURN_IF_ERROR(TakeFiles(*values.data, data));
  if (values.validation.empty()) return OkStatus();
  data.validation_path = values.validation;
  if (data.kind != DataKind::kDigits) return OkStatus();
  return InvalidArgument("--validation requires --data DIR");
}

void TakeOptimizer(const JobFlags& values, OptimizerSpec& optimizer) {
  optimizer.learning_rate =
      values.learning_rate.value_or(optimizer.learning_rate);
  optimizer.schedule = values.schedule.value_or(optimizer.schedule);
  optimizer.schedule.warmup = values.warmup.value_or(optimizer.schedule.warmup);
  optimizer.clip = values.clip.value_or(optimizer.clip);
}

// Prefixes an error of the job with the flag that sets the field: "--lr
// (optimizer.learning_rate): expected …".
Status NameFlags(const Status& status) {
  constexpr std::array kFlagsOf = {
      std::pair{"replicas:", "--replicas"},
      std::pair{"batch:", "--batch"},
      std::pair{"accumulate:", "--accumulate"},
      std::pair{"optimizer.learning_rate:", "--lr"},
      std::pair{"optimizer.schedule", "--schedule"},
      std::pair{"optimizer.clip", "--clip"},
      std::pair{"data.samples:", "--batch, --replicas"},
      std::pair{"data.steps_per_epoch:", "--steps-per-epoch"},
      std::pair{"data.validation_steps:", "--validation-steps"}};
  const std::string& message = status.message();
  for (const auto& [field, flag] : kFlagsOf) {
    if (!message.starts_with(field)) continue;
    const size_t end = message.find(": expected");
    if (end == message.npos) break;
    return InvalidArgument(fmt::format(
        "{} ({}){}", flag, message.substr(0, end), message.substr(end)));
  }
  return status;
}

}  // namespace

void AddJobFlags(Flags& flags, JobFlags& values) {
  flags.Value({"--preset", "NAME",
               "Model, optimizer, data and epochs by name: see gauntlet list "
               "presets (tiny)."},
              ReadText(values.preset));
  flags.Value({"--data", "digits|[KIND:]DIR",
               "Data set: generated digits, or a folder of idx (MNIST), "
               "cifar10 or npy files (KIND is idx if not given)."},
              ReadText(values.data));
  flags.Value({"--validation", "DIR",
               "Folder of the validation files (default: that of --data)."},
              ReadText(values.validation));
  flags.Value({"--replicas", "N",
               "Data-parallel parts of the global batch. Fixed for the job, "
               "unlike --workers (as many as --workers)."},
              ReadWhole(values.replicas, 1, 1024));
  flags.Value({"--batch", "N",
               "Samples of each replica in a step. The global batch is this "
               "times --replicas (the preset's)."},
              ReadWhole(values.batch, 1, kMaxBatch));
  flags.Value({"--lr", "RATE", "Learning rate (the preset's)."},
              ReadReal(values.learning_rate));
  flags.Value(
      {"--seed", "N", "Seed of all randomness (1)."},
      ReadWhole<std::optional<uint64_t>, uint64_t>(values.seed, 0, UINT64_MAX));
}

void AddOptimizerFlags(Flags& flags, JobFlags& values) {
  flags.Value({"--schedule", "KIND:…",
               "Learning-rate schedule over the updates: "
               "cosine_decay:UPDATES[:ALPHA], "
               "exponential_decay:UPDATES:RATE[:staircase] or "
               "piecewise:UPDATE,…:RATE,RATE,… (constant)."},
              ReadSchedule(values.schedule));
  flags.Value({"--warmup", "N",
               "Learning-rate warm-up: the rate rises in equal parts over N "
               "updates (0)."},
              ReadWhole(values.warmup, uint64_t{1}, kMaxUpdates));
  flags.Value({"--clip", "KIND:LIMIT",
               "Gradient clipping. value: each element; norm: each tensor; "
               "global_norm: all tensors as one (none)."},
              ReadClip(values.clip));
  flags.Value({"--accumulate", "N",
               "Gradient accumulation: one update averages the gradients of N "
               "steps (1)."},
              ReadWhole(values.accumulate, 1, kMaxAccumulate));
}

void AddDataFlags(Flags& flags, JobFlags& values) {
  flags.Value(
      {"--shuffle", "on|off", "Shuffle the samples of each epoch (on)."},
      ReadChoice<Shuffle>(values.shuffle,
                          {{"on", Shuffle::kOn}, {"off", Shuffle::kOff}}));
  flags.Value(
      {"--shard-policy", "NAME",
       "Split of the samples over the replicas: data (by sample), file (by "
       "file), auto or off (each replica takes all) (data)."},
      ReadChoice<ShardPolicy>(values.shard, {{"data", ShardPolicy::kData},
                                             {"file", ShardPolicy::kFile},
                                             {"auto", ShardPolicy::kAuto},
                                             {"off", ShardPolicy::kOff}}));
  flags.Value(
      {"--remainder", "drop|keep",
       "Last partial batch of an epoch: drop or keep it (drop)."},
      ReadChoice<Remainder>(values.remainder, {{"drop", Remainder::kDrop},
                                               {"keep", Remainder::kKeep}}));
  flags.Value({"--steps-per-epoch", "N",
               "End an epoch after N steps (default: after all samples)."},
              ReadWhole(values.steps_per_epoch, 1, kMaxSamples));
  flags.Value({"--validation-steps", "N",
               "Global batches of an evaluation (default: all validation "
               "samples)."},
              ReadWhole(values.validation_steps, 1, kMaxSamples));
}

std::string DataPrefixHint(const DataSpec& data) {
  const std::string& path = data.path;
  const size_t colon = path.find(':');
  // A folder without a known prefix is of kind idx.
  const bool may_be_prefix = data.kind == DataKind::kIdx &&
                             colon != path.npos && path.find('/') > colon;
  if (!may_be_prefix) return "";
  const std::string found = path.substr(0, colon + 1);
  std::vector<std::string_view> known;
  for (const auto& [prefix, kind] : kDataPrefixes) {
    if (prefix == found) return "";
    known.push_back(prefix);
  }
  return fmt::format("; expected one of {} before the folder, found {}",
                     fmt::join(known, ", "), Quoted(found));
}

Result<JobSpec> JobOf(const JobFlags& values, int workers) {
  ASSIGN_OR_RETURN(JobSpec job, TakePreset(values));
  RETURN_IF_ERROR(TakeSource(values, job.data));
  TakeOptimizer(values, job.optimizer);
  DataSpec& data = job.data;
  data.shuffle = values.shuffle.value_or(data.shuffle);
  data.shard = values.shard.value_or(data.shard);
  data.steps_per_epoch = values.steps_per_epoch.value_or(data.steps_per_epoch);
  data.validation_steps =
      values.validation_steps.value_or(data.validation_steps);
  job.remainder = values.remainder.value_or(job.remainder);
  job.replicas = values.replicas.value_or(workers);
  job.batch = values.batch.value_or(job.batch);
  job.accumulate = values.accumulate.value_or(job.accumulate);
  job.seed = values.seed.value_or(job.seed);
  if (workers > job.replicas) {
    return InvalidArgument(
        fmt::format("--workers: expected at most one a replica ({}), found {}",
                    job.replicas, workers));
  }
  RETURN_IF_ERROR(NameFlags(Validate(job)));
  return job;
}

}  // namespace gauntlet
