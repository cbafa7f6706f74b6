#include "engine/train/resume.h"

#include <charconv>
#include <cstdint>
#include <vector>

#include "engine/ckpt/store_names.h"
#include "engine/cluster/frame_format.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::optional<uint64_t> ParseNumber(const std::string& text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::string EncodeParent(const std::optional<CheckpointRef>& parent) {
  if (!parent) return "";
  return EncodeList(
      std::vector<std::string>{parent->name, std::to_string(parent->step),
                               std::to_string(parent->generation)});
}

Result<std::optional<CheckpointRef>> DecodeParent(const std::string& text) {
  if (text.empty()) return std::optional<CheckpointRef>();
  ASSIGN_OR_RETURN(const std::vector<std::string> fields, DecodeList(text));
  if (fields.size() == 3) {
    const std::optional<uint64_t> step = ParseNumber(fields[1]);
    const std::optional<uint64_t> generation = ParseNumber(fields[2]);
    // A name from the network becomes a path.
    if (step && generation && CheckpointName::Parse(fields[0])) {
      return std::optional(CheckpointRef{
          .name = fields[0], .step = *step, .generation = *generation});
    }
  }
  return DataLoss("the chief's decision is malformed");
}

Status LoadState(World& world, CheckpointStore& store,
                 const CheckpointRef& parent, const RowSchedule& schedule,
                 TrainState& state) {
  const Result<LoadedCheckpoint> loaded = store.Load(parent);
  const Code code = loaded.status().code();
  if (code == Code::kDataLoss || code == Code::kNotFound) {
    // Whether another one is left is the next claim's to find out.
    return Unavailable(fmt::format("{} went bad after it was chosen: {}",
                                   parent.name, loaded.status().message()));
  }
  RETURN_IF_ERROR(loaded.status());
  RETURN_IF_ERROR(Annotate(state.Restore(loaded->tensors, world.faults),
                           store.PathOf(parent)));
  if (state.position.sample > schedule.rows_per_epoch()) {
    return DataLoss(
        fmt::format("{}: position/sample: expected at most {} rows, found {}",
                    store.PathOf(parent), schedule.rows_per_epoch(),
                    state.position.sample));
  }
  return OkStatus();
}

}  // namespace gauntlet
