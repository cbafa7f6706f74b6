// The file "checkpoint": an index for people, and their way to go back.
//
// A text record (text_record.h):
//   # Written by gauntlet. To go back, …
//   all: step-000000150-g3
//   all: step-000000200-g3
//   latest: step-000000200-g3
//   xxh3_128: …
// It is written after each acknowledged save and each claim, `all` in ascending
// order with the latest last. A load does not obey it, except where a person
// edited it: the digest line is gone, and `latest` is not the last of `all` (or
// there is no `all`). It stands behind `all` so that no file that breaks off
// looks like that. All else without a right digest is damage: the file is an
// index only, and passed over.
#ifndef GAUNTLET_ENGINE_CKPT_STATE_FILE_FORMAT_H_
#define GAUNTLET_ENGINE_CKPT_STATE_FILE_FORMAT_H_

#include <cstdint>

namespace gauntlet {

inline constexpr uint64_t kMaxStateFileBytes = uint64_t{1} << 20;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_STATE_FILE_FORMAT_H_
