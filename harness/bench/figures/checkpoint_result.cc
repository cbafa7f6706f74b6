#include "harness/bench/figures/checkpoint_result.h"

#include <algorithm>

#include "harness/bench/figures/byte_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::array kModes = {SaveMode::kSync, SaveMode::kAsync,
                               SaveMode::kZeroCopy};
static_assert(kModes.size() == kSaveModeNames.size());

}  // namespace

std::span<const SaveMode> AllSaveModes() { return kModes; }

std::string_view SaveModeName(SaveMode mode) {
  return kSaveModeNames[static_cast<size_t>(mode)];
}

std::string ModeName(const std::optional<SaveMode>& mode) {
  return mode ? std::string(SaveModeName(*mode)) : "none";
}

std::string NameOf(const CheckpointConfig& config) {
  std::string name = fmt::format(
      "checkpoint/{}/state:{}/every:{}/workers:{}", ModeName(config.mode),
      ByteText(config.state_bytes), config.every, config.workers);
  if (config.shards > 0) name += fmt::format("/shards:{}", config.shards);
  return name;
}

TrialValues MemoryAdded(const TrialValues& peaks,
                        const TrialValues& without_saves) {
  if (without_saves.empty()) return {};
  const double least = std::ranges::min(without_saves);
  TrialValues added;
  for (const double peak : peaks) added.push_back(std::max(0.0, peak - least));
  return added;
}

std::string_view MachineLimitName(MachineLimit limit) {
  switch (limit) {
    case MachineLimit::kMemcpy:
      return "memcpy";
    case MachineLimit::kWrite:
      return "write+fsync";
    case MachineLimit::kDirectWrite:
      return "O_DIRECT+fsync";
    case MachineLimit::kColdRead:
      return "cold read";
    case MachineLimit::kLoopback:
      return "loopback";
  }
  return "";
}

}  // namespace gauntlet
