// MANIFEST.json: metadata of a checkpoint, and a digest of every byte of it.
//
// One JSON object, with one key per line, in this order:
//   schema         "gauntlet/checkpoint/v1"
//   job_digest, job  the job's digest, and its canonical JSON as a string
//   numerics       version of the numerics contract
//   step, epoch, position, phase
//   generation     generation that wrote the checkpoint
//   parent         the parent that this generation's claim records: null for a
//                  cold start, else {name, step, phase, state_digest,
//                  written_by}. So the lineage survives damage to the claim.
//   written_at     Unix seconds
//   counted_from, keep  only if the store keeps some checkpoints permanently
//                  (StoreOptions::keep_every_seconds). counted_from:
//                  Unix seconds at which the previous permanent one was saved
//                  (if there is none: see RetentionMark). keep: "while_new"
//                  (kRecent) or "for_good" (kPermanent)
//   not_finite_since  only if the state or its loss is not finite: first
//                  step of the run at which one of them was not
//   state_digest   of all tensors (state_digest.h)
//   files          [{name, bytes, xxh3_128, tensors}], including the index
//   xxh3_128       of all bytes before this line, which is the last one
// Strings are JSON, digests are 32 hex digits. A reader rejects unknown keys.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_MANIFEST_FORMAT_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_MANIFEST_FORMAT_H_

#include <cstdint>
#include <string_view>

namespace gauntlet {

inline constexpr std::string_view kManifestSchema = "gauntlet/checkpoint/v1";
inline constexpr uint64_t kMaxManifestBytes = uint64_t{1} << 20;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_MANIFEST_FORMAT_H_
