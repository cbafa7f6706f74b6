// The state file "checkpoint" of state_file_format.h.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// A checkpoint that a person asks to go back to.
struct StateFileEdit {
  std::string latest;  // any text
  size_t line = 0;     // of `latest`, from 1
  // A file that broke off behind this line looks the same, so the edit counts
  // only if its checkpoint is there and good.
  bool may_be_cut = false;
};

// At most one of `edit`, `refusal` and `damage` is set, but for an edit that
// may be a cut: that one has its damage too.
struct StateFile {
  std::vector<std::string> all;  // not to be trusted if there is damage
  std::optional<StateFileEdit> edit;
  // A person edited the file, and it cannot be obeyed: "line 3: expected …,
  // found …". A start stops at it.
  std::string refusal;
  // The file is neither as it was written nor edited: "empty", "cut off". It
  // is passed over.
  std::string damage;
};

// `all` ascending; its last is the latest. Empty: there is no checkpoint.
std::string EncodeStateFile(std::span<const std::string> all);

// Takes any bytes. Damage is what a power cut, a truncation or one flipped bit
// makes of a file as it was written; everything else that is text is an edit.
StateFile ParseStateFile(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_STATE_FILE_H_
