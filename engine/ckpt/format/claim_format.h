// The file gen-NNNNNN: a generation's durable claim on the directory.
//
// A text record (text_record.h). First contents, created with O_CREAT | O_EXCL:
//   generation: 3
//   host: machine-a
//   unix_seconds: 1700000000
//   launch: 00000000000000000003 1700000000 machine-a     (if there is one)
//   parent: unrecorded
// Second contents, written to gen-NNNNNN.tmp, which is then renamed. They
// record the checkpoint that the generation resumes from; its name does not
// change:
//   parent: step-000000150-g2
//   parent_step: 150
//   parent_phase: in_epoch
//   parent_state: <state digest>
//   parent_written_by: 2          (generation in the parent's manifest; earlier
//                                 versions of the engine changed the suffix)
// or, for a cold start,
//   parent: none
// A claim without a recorded parent, and one that is torn or damaged, has no
// effect on the lineage. But no other generation may use its number.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_CLAIM_FORMAT_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_CLAIM_FORMAT_H_

#include <cstdint>
#include <string_view>

namespace gauntlet {

inline constexpr uint64_t kMaxClaimBytes = 4096;
inline constexpr std::string_view kClaimUnrecorded = "unrecorded";
inline constexpr std::string_view kClaimColdStart = "none";

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_CLAIM_FORMAT_H_
