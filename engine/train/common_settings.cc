#include "engine/train/common_settings.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/job/job.h"
#include "engine/job/strict_json.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kNone = ~uint64_t{0};

constexpr std::array<std::string_view, 4> kUnits = {"never", "steps", "seconds",
                                                    "epochs"};
constexpr std::array<std::string_view, 2> kModes = {"sync", "async"};
constexpr std::array<std::string_view, 3> kAtSuccess = {"keep", "delete",
                                                        "leave"};
constexpr std::array<std::string_view, 2> kAtNotice = {"save", "leave"};
constexpr std::array<std::string_view, 2> kOnLoss = {"leave", "rejoin"};
constexpr std::array<std::string_view, 2> kYesNo = {"no", "yes"};

struct Setting {
  std::string_view name;
  uint64_t value = 0;
  std::span<const std::string_view> words = {};  // by value; {}: a number

  std::string ToString() const {
    if (value == kNone) return "none";
    return words.empty() ? std::to_string(value) : std::string(words[value]);
  }
};

// Saves, stops and the end of the run are exchanges of all workers.
auto SettingsOf(const TrainOptions& options) {
  const CheckpointOptions& checkpoint = options.checkpoint;
  const auto number = [](auto value) { return static_cast<uint64_t>(value); };
  return std::array{
      Setting{"epochs", options.horizon.epochs},
      Setting{"max_steps", options.horizon.max_steps.value_or(kNone)},
      Setting{"stop_at_step", options.horizon.stop_at_step.value_or(kNone)},
      Setting{"checkpoint.unit", number(checkpoint.trigger.unit), kUnits},
      Setting{"checkpoint.every", checkpoint.trigger.every},
      Setting{"checkpoint.at_success", number(checkpoint.at_success),
              kAtSuccess},
      Setting{"checkpoint.at_notice", number(checkpoint.at_notice), kAtNotice},
      Setting{"checkpoint.used", number(!checkpoint.directory.empty()), kYesNo},
      Setting{"on_loss", number(options.cluster.on_loss), kOnLoss},
      Setting{"steps_per_execution", options.steps_per_execution},
  };
}

}  // namespace

Digest CommonSettingsDigest(const TrainOptions& options,
                            std::string_view job_json) {
  const auto settings = SettingsOf(options);
  std::vector<uint64_t> words;
  for (const Setting& setting : settings) words.push_back(setting.value);
  const Digest job = JobDigest(job_json);
  words.push_back(job.high);
  words.push_back(job.low);
  // Behind all others: without it the digest is that of a build before it.
  const SaveMode mode = options.checkpoint.mode;
  if (mode != SaveMode::kSync) words.push_back(static_cast<uint64_t>(mode));
  return DigestOf(std::as_bytes(std::span(words)));
}

std::string CommonSettingsToJson(const TrainOptions& options,
                                 std::string_view job_json) {
  Result<Json> job = ParseStrictJson(job_json, "job");
  Json json = job.ok() ? std::move(job).value() : Json::object();
  for (const Setting& setting : SettingsOf(options)) {
    json[std::string(setting.name)] = setting.ToString();
  }
  json["checkpoint.mode"] =
      kModes[static_cast<size_t>(options.checkpoint.mode)];
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status CompareSettings(const std::vector<std::string>& by_rank) {
  for (size_t rank = 1; rank < by_rank.size(); ++rank) {
    const std::string where = fmt::format("at rank {}", rank);
    const std::string difference =
        DescribeJsonDifference({.json = by_rank[0], .where = "at the chief"},
                               {.json = by_rank[rank], .where = where});
    if (difference.empty()) continue;
    return InvalidArgument(
        fmt::format("rank {} was told something else than the chief: {}", rank,
                    difference));
  }
  return OkStatus();
}

}  // namespace gauntlet
