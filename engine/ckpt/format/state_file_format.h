// The file "checkpoint": an index for people, and their way to go back.
//
// A text record (text_record.h):
//   # Written by gauntlet. To go back, …
//   all: step-000000150-g3
//   all: step-000000200-g3
//   latest: step-000000200-g3
//   xxh3_128: …
// It is written after each acknowledged save and each claim, `all` in ascending
// order with the latest last. The rule for people: stop the run, set `latest`
// to another checkpoint's name, delete the last line.
//
// A load does not need the file. It passes over what a power cut, a truncation
// or a flipped bit or two make of it, and says so. All other text is an edit,
// and an edit takes effect or is an error:
//   without the digest line, every other line understood   obeyed
//   with it, and only line ends, blanks or comments differ  nothing was asked
//   all else: the digest line kept, an unknown line, latest  refused (exit 2)
//     twice or not in the directory, more than 1 MiB
// `latest` stands behind `all`, so that a file that breaks off names another
// checkpoint than the last of `all` only if a person wrote that.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_FORMAT_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_FORMAT_H_

#include <cstdint>

namespace gauntlet {

inline constexpr uint64_t kMaxStateFileBytes = uint64_t{1} << 20;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_FORMAT_H_
