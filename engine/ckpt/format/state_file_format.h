// The state file "checkpoint": a list for people, who can edit it to go back to
// an earlier checkpoint.
//
// A text record (text_record.h):
//   # Written by gauntlet. To go back, …
//   all: step-000000150-g3
//   all: step-000000200-g3
//   latest: step-000000200-g3
//   xxh3_128: …
// It is written after each acknowledged save and each claim, with `all` in
// ascending order; `latest` repeats the last name. To go back, a person stops
// the run, sets `latest` to another checkpoint's name, and deletes the last
// line.
//
// A load does not need the file. A file that a power loss, a truncation, or one
// or two flipped bits may have damaged is ignored, with a warning. All other
// changes were made by a person. They are applied, ignored without a warning,
// or refused:
//   no digest line, all other lines valid                   applied
//   digest line kept, only line ends, blanks or comments    ignored: nothing is
//     changed                                               requested
//   anything else: digest line kept and a name changed, an  refused (exit 2)
//     unknown line, `latest` missing, twice or not in the
//     directory, more than 1 MiB
// The engine always writes the last name of `all` as `latest`. If `latest` is
// another name of `all`, a person wrote it, even in a file that seems
// truncated.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_FORMAT_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_FORMAT_H_

#include <cstdint>

namespace gauntlet {

inline constexpr uint64_t kMaxStateFileBytes = uint64_t{1} << 20;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_FORMAT_H_
