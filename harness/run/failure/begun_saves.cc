#include "harness/run/failure/begun_saves.h"

#include <algorithm>
#include <map>

#include "harness/run/failure/worker_events.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {

std::vector<BegunSave> SavesBegunBy(const Record& record, int64_t until_ns) {
  std::map<uint64_t, BegunSave> saves;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind != RecordKind::kSaveBegin || event.t_ns > until_ns) return;
    BegunSave& save = saves[event.step];
    save.step = event.step;
    save.begin_ns = std::max(save.begin_ns, event.t_ns);
  });
  ForEachEvent(record, [&](const RecordEvent& event) {
    const auto found = saves.find(event.step);
    if (found == saves.end() || event.t_ns > until_ns ||
        event.t_ns < found->second.begin_ns) {
      return;
    }
    if (event.kind == RecordKind::kSaveAcknowledged) {
      found->second.ending = SaveEnding::kAcknowledged;
    } else if (event.kind == RecordKind::kSaveFailed &&
               found->second.ending == SaveEnding::kPending) {
      found->second.ending = SaveEnding::kFailed;
    }
  });
  std::vector<BegunSave> begun;
  begun.reserve(saves.size());
  for (const auto& [step, save] : saves) begun.push_back(save);
  return begun;
}

std::string NotAcknowledgedText(std::span<const uint64_t> steps) {
  if (steps.empty()) return "";
  if (steps.size() == 1) {
    return fmt::format("the save of step {} began and was not acknowledged",
                       steps.front());
  }
  return fmt::format("the saves of steps {} began and were not acknowledged",
                     fmt::join(steps, ", "));
}

std::string PendingSavesText(const Record& record, uint64_t step,
                             int64_t until_ns) {
  std::vector<uint64_t> pending;
  for (const BegunSave& save : SavesBegunBy(record, until_ns)) {
    if (save.step > step && save.ending == SaveEnding::kPending) {
      pending.push_back(save.step);
    }
  }
  return NotAcknowledgedText(pending);
}

}  // namespace gauntlet
