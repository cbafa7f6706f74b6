// Saves that had begun by some time of a run, and how they had ended by then.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_BEGUN_SAVES_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_BEGUN_SAVES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

enum class SaveEnding : uint8_t { kPending, kAcknowledged, kFailed };

// The last attempt to save a step: a failed save may begin again.
struct BegunSave {
  uint64_t step = 0;
  int64_t begin_ns = 0;
  SaveEnding ending = SaveEnding::kPending;
};

// Returns the saves that had begun by that time, in the order of their steps.
std::vector<BegunSave> SavesBegunBy(const Record& record, int64_t until_ns);

// Returns "the save of step 8 began and was not acknowledged", with all steps;
// "" if there are none.
std::string NotAcknowledgedText(std::span<const uint64_t> steps);

// Returns NotAcknowledgedText for the steps after `step` whose saves were
// pending at that time.
std::string PendingSavesText(const Record& record, uint64_t step,
                             int64_t until_ns);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_BEGUN_SAVES_H_
