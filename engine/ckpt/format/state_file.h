// The state file "checkpoint", parsed and encoded; see state_file_format.h.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// A person's request to go back to a checkpoint.
struct StateFileEdit {
  std::string latest;  // value of the `latest` line; any text
  size_t line = 0;     // number of the `latest` line, from 1
  // True if the file ends after the `latest` line. The rest may have been
  // truncated, too. So the edit is applied only if the checkpoint that it names
  // exists and is valid.
  bool may_be_truncated = false;
};

// At most one of `edit`, `refusal` and `damage` is set, with one exception: if
// `edit->may_be_truncated`, `damage` is set as well.
struct StateFile {
  std::vector<std::string> all;  // untrusted if `damage` is set
  std::optional<StateFileEdit> edit;
  // Reason why a person's edit cannot be applied: "line 3: expected …, found
  // …". A run does not start with such a file.
  std::string refusal;
  // Damage to the file that is not an edit: "empty", "cut off". A run ignores
  // such a file.
  std::string damage;
};

// Encodes the names `all`, which are in ascending order; the last one becomes
// `latest`. Empty: there is no checkpoint.
std::string EncodeStateFile(std::span<const std::string> all);

// Accepts any bytes. Text counts as damaged if it can result from a written
// file by a power loss, a truncation, or one or two flipped bits. All other
// changes are edits.
StateFile ParseStateFile(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_H_
