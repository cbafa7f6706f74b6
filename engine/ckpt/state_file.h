// The state file "checkpoint" of state_file_format.h.
#ifndef GAUNTLET_ENGINE_CKPT_STATE_FILE_H_
#define GAUNTLET_ENGINE_CKPT_STATE_FILE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

struct StateFile {
  std::vector<std::string> all;
  // What a person asks to go back to, as it stands in the file: any text.
  std::optional<std::string> edit;
  // What a person may have meant to ask for, and did not: the last line stands.
  std::optional<std::string> half_edit;
  // Why nobody asked for anything, though it is not as it was written: "empty",
  // "of other bytes than …"; nor is `all` to be trusted. Empty: it is.
  std::string damage;
};

// `all` ascending; its last is the latest. Empty: there is no checkpoint.
std::string EncodeStateFile(std::span<const std::string> all);
// Takes any bytes.
StateFile ParseStateFile(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_STATE_FILE_H_
