#include "engine/train/rendezvous/common_settings.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/link/protobuf_edge.h"
#include "engine/job/job.h"
#include "engine/job/strict_json.h"
#include "engine/train/rendezvous/rendezvous.pb.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kNone = ~uint64_t{0};

constexpr std::array<std::string_view, 4> kUnits = {"never", "steps", "seconds",
                                                    "epochs"};
constexpr std::array<std::string_view, 3> kAtSuccess = {"keep", "delete",
                                                        "leave"};
constexpr std::array<std::string_view, 2> kAtNotice = {"save", "leave"};
constexpr std::array<std::string_view, 2> kOnLoss = {"leave", "rejoin"};
constexpr std::array<std::string_view, 2> kOnNotFinite = {"train on", "stop"};
constexpr std::array<std::string_view, 2> kYesNo = {"no", "yes"};
constexpr std::array<std::string_view, 3> kMath = {"canonical", "library",
                                                   "library-tf32"};
constexpr std::array<std::string_view, 3> kCollective = {"auto", "ring",
                                                         "nccl"};

struct Setting {
  std::string_view name;
  uint64_t value = 0;
  std::span<const std::string_view> words = {};  // by value; {}: a number

  std::string ToString() const {
    if (value == kNone) return "none";
    return words.empty() ? std::to_string(value) : std::string(words[value]);
  }
};

// Returns the settings that must be equal: they decide when all workers
// exchange data, for saves, stops and the end of the run.
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
      Setting{"checkpoint.shards", number(checkpoint.shards)},
      Setting{"checkpoint.mode", number(checkpoint.mode), kSaveModeNames},
      Setting{"checkpoint.used", number(!checkpoint.directory.empty()), kYesNo},
      Setting{"on_loss", number(options.cluster.on_loss), kOnLoss},
      Setting{"on_not_finite", number(options.on_not_finite), kOnNotFinite},
      Setting{"collective", number(options.cluster.collective), kCollective},
      Setting{"steps_per_execution", options.steps_per_execution},
      Setting{"math", number(options.kernels.math), kMath},
  };
}

// Decodes the settings and the job into one object.
Result<Json> Decode(std::string_view encoded) {
  wire::CommonSettings message;
  if (!ParseMessage(encoded, message)) {
    return DataLoss("the settings are malformed");
  }
  ASSIGN_OR_RETURN(Json all, ParseStrictJson(message.job(), "job"));
  if (!all.is_object()) {
    return DataLoss("job: expected a JSON object");
  }
  for (const wire::Setting& setting : message.settings()) {
    all[setting.name()] = setting.value();
  }
  return all;
}

std::string CompactJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string EncodeCommonSettings(const TrainOptions& options,
                                 const std::string& job_json) {
  wire::CommonSettings message;
  for (const Setting& setting : SettingsOf(options)) {
    wire::Setting& one = *message.add_settings();
    one.set_name(setting.name.data(), setting.name.size());
    one.set_value(setting.ToString());
  }
  message.set_job(job_json);
  return message.SerializeAsString();
}

Status CheckSettings(std::string_view encoded) {
  return Decode(encoded).status();
}

Status CompareSettings(std::string_view chief, std::string_view other,
                       size_t rank) {
  if (chief == other) return OkStatus();
  ASSIGN_OR_RETURN(const Json expected, Decode(chief));
  const Result<Json> found = Decode(other);
  if (!found.ok()) {
    return Unavailable(
        fmt::format("rank {}: {}", rank, found.status().message()));
  }
  const std::string where = fmt::format("at rank {}", rank);
  const std::string difference = DescribeJsonDifference(
      {.json = CompactJson(expected), .where = "at the chief"},
      {.json = CompactJson(*found), .where = where});
  return InvalidArgument(
      fmt::format("rank {} was told something else than the chief: {}", rank,
                  Shortened(difference)));
}

}  // namespace gauntlet
