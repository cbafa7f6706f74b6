// clean-refusal: a launcher that says exit 7 had nothing to load, came to no
// result, and left damaged checkpoints for a look (those of which something was
// left after the last power cut that a lying disk forgot in, and that no run
// which had finished unseen had deleted).
#include "engine/worker_exit_code.h"
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
void CheckCleanRefusal(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  if (record.launchers.empty() ||
      !IsExit(record.launchers.back().exit_code, {WorkerExit::kNoCheckpoint})) {
    return;
  }
  check.Instance();
  for (const Acknowledged& save : evidence.GoodSavesBefore(evidence.End())) {
    check.Breach("unneeded-refusal",
                 fmt::format("refused, but the save of step {} was "
                             "acknowledged and not damaged",
                             ToText(save.moment)));
  }
  if (record.launchers.back().result) {
    check.Breach("with-a-result",
                 fmt::format("refused, and yet says that it is {}",
                             record.launchers.back().result->status));
  }
  uint64_t saves = 0;
  for (const auto& [id, generation] : evidence.generations) {
    const bool forgotten = evidence.disk_forgot && id.era < evidence.End().era;
    const bool deleted = id.store < evidence.End().store ||
                         evidence.MayHaveDeleted(id, evidence.End());
    if (!forgotten && !deleted) saves += generation.saves.size();
  }
  const Leftovers& left = record.left;
  if (left.store_listed && saves > 0 && left.checkpoints.empty() &&
      left.rejected.empty()) {
    check.Breach("no-evidence-kept",
                 fmt::format("refused, and of {} saves nothing is left to "
                             "look at",
                             saves));
  }
}

}  // namespace gauntlet
