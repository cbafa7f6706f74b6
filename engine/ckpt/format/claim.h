// A generation's claim, in memory; its encoding is in claim_format.h.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_CLAIM_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_CLAIM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/digest.h"
#include "engine/status.h"
#include "engine/world/event_log.h"

namespace gauntlet {

// The checkpoint that a generation resumes from. The lineage identifies it by
// step, phase and state digest rather than by name. The name may have changed:
// earlier versions of the engine replaced the generation in it.
struct ParentRecord {
  std::string name;  // "step-000000150-g3"
  uint64_t step = 0;
  Phase phase = Phase::kInEpoch;
  Digest state_digest;
  uint64_t written_by = 0;  // generation

  bool operator==(const ParentRecord&) const = default;
};

enum class ParentState : uint8_t { kUnrecorded, kColdStart, kRecorded };

struct ClaimRecord {
  uint64_t generation = 0;
  std::string host;
  std::string launch;  // name of the claimant's launch; may be ""
  int64_t unix_seconds = 0;
  ParentState state = ParentState::kUnrecorded;
  ParentRecord parent;  // only if state is kRecorded
};

std::string EncodeClaim(const ClaimRecord& claim);
// Returns kDataLoss for text that EncodeClaim cannot have written.
Result<ClaimRecord> ParseClaim(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_CLAIM_H_
