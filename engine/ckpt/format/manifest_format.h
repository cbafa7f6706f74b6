// MANIFEST.json: what a checkpoint is, and a digest of every byte of it.
//
// One JSON object, one key a line, in this order:
//   schema         "gauntlet/checkpoint/v1"
//   job_digest, job  the job's digest, and its canonical JSON as a string
//   numerics       version of the numerics contract
//   step, epoch, position, phase
//   generation     that wrote it
//   parent         what that generation's claim records: null for a cold start,
//                  else {name, step, phase, state_digest, written_by}. With it
//                  the lineage outlives a damaged claim.
//   written_at     Unix seconds
//   counted_from, keep  only where one checkpoint every so many hours stays:
//                  Unix seconds of the last one before that is for good, else
//                  of the store's beginning; "while_new" or "for_good"
//   not_finite_since  only where the state or its loss is not finite: the first
//                  step of the run at which one of them was not
//   state_digest   of all tensors (state_digest.h)
//   files          [{name, bytes, xxh3_128, tensors}], the index among them
//   xxh3_128       of all bytes before its own line, which is the last
// Strings are JSON, digests 32 hex digits. A reader refuses unknown keys.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_MANIFEST_FORMAT_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_MANIFEST_FORMAT_H_

#include <cstdint>
#include <string_view>

namespace gauntlet {

inline constexpr std::string_view kManifestSchema = "gauntlet/checkpoint/v1";
inline constexpr uint64_t kMaxManifestBytes = uint64_t{1} << 20;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_MANIFEST_FORMAT_H_
