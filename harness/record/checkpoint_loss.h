// Checkpoints that were damaged or lost, according to a record.
#ifndef GAUNTLET_HARNESS_RECORD_CHECKPOINT_LOSS_H_
#define GAUNTLET_HARNESS_RECORD_CHECKPOINT_LOSS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

// Returns the first event of a fault that damaged a file of the checkpoint;
// null if no fault did.
const RecordEvent* DamageOf(const Record& record, std::string_view checkpoint);

enum class Integrity : uint8_t {
  kNotVerified,  // not among the leftovers, and not damaged by a fault
  kIntact,       // verified after the run, and not damaged by a fault
  kDamaged,      // damaged by a fault, or did not verify after the run
};
Integrity IntegrityOf(const Record& record, std::string_view checkpoint);

// Returns "model-00003-of-00003.safetensors of step-000000020-g1 was damaged by
// fault rot", "… was deleted by fault gone", or "step-000000020-g1 does not
// verify (REASON)"; "" if the checkpoint is not damaged.
std::string DamageText(const Record& record, std::string_view checkpoint);

// An acknowledged checkpoint that could not be loaded later.
struct LostCheckpoint {
  std::string_view name;  // points into the record
  uint64_t step = 0;
  std::string_view reason;  // why it is invalid; "" if is_gone
  bool is_gone = false;     // is missing, although it was not removed
  bool by_fault = false;    // a fault damaged one of its files
  int64_t acknowledged_ns = 0;
  int64_t found_ns = INT64_MAX;  // time of discovery; INT64_MAX: after the run
};

// Returns the acknowledged checkpoints that were lost, in the order in which
// the losses were discovered. A lost checkpoint
//   - was rejected,
//   - was damaged by a fault,
//   - was missing when a later generation claimed an older checkpoint,
//   - is missing after the run, or
//   - is invalid after the run.
std::vector<LostCheckpoint> LostCheckpointsOf(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_CHECKPOINT_LOSS_H_
