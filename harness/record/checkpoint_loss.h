// Checkpoints that a record shows to be damaged or lost.
#ifndef GAUNTLET_HARNESS_RECORD_CHECKPOINT_LOSS_H_
#define GAUNTLET_HARNESS_RECORD_CHECKPOINT_LOSS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

// Returns the first event of a fault that damaged a file of the checkpoint;
// null: no fault did.
const RecordEvent* DamageOf(const Record& record, std::string_view checkpoint);

enum class Integrity : uint8_t {
  kNotVerified,  // it is not among the leftovers, and no fault damaged it
  kIntact,       // it verified after the run, and no fault damaged it
  kDamaged,      // by a fault, or it did not verify after the run
};
Integrity IntegrityOf(const Record& record, std::string_view checkpoint);

// Returns "model-00003-of-00003.safetensors of step-000000020-g1 was damaged by
// fault rot", or "step-000000020-g1 does not verify (REASON)"; "": it is not
// damaged.
std::string DamageText(const Record& record, std::string_view checkpoint);

// An acknowledged checkpoint that could not be loaded later.
struct LostCheckpoint {
  std::string_view name;  // points into the record
  uint64_t step = 0;
  std::string_view reason;  // why it does not verify
  bool is_gone = false;   // none of that name is left, though none was removed
  bool by_fault = false;  // a fault damaged one of its files
  int64_t acknowledged_ns = 0;
  int64_t found_ns = INT64_MAX;  // found to be lost; INT64_MAX: after the run
};

// Returns the acknowledged checkpoints that were rejected, are left behind
// invalid, were damaged by a fault, or were gone when a later generation
// resumed from an older one; in the order in which they were found to be lost.
std::vector<LostCheckpoint> LostCheckpointsOf(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_CHECKPOINT_LOSS_H_
