// Names of files and directories, from the paths in events.
#ifndef GAUNTLET_HARNESS_RECORD_BASE_NAME_H_
#define GAUNTLET_HARNESS_RECORD_BASE_NAME_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace gauntlet {

// Returns the part after the last '/' of the path; all of it if it has no '/'.
inline std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// Suffix of the directory of a checkpoint that is being written.
inline constexpr std::string_view kBeingWritten = ".tmp";

// Returns the name of the checkpoint to which the file at this path belongs.
inline std::string_view CheckpointOfFile(std::string_view path) {
  std::string_view name = BaseName(path.substr(0, path.rfind('/')));
  if (name.ends_with(kBeingWritten)) name.remove_suffix(kBeingWritten.size());
  return name;
}

// Returns the step in the name of a checkpoint, such as 5 in step-000000005-g1;
// nullopt if the name has none.
inline std::optional<uint64_t> StepInName(std::string_view name) {
  constexpr std::string_view kBeforeStep = "step-";
  if (!name.starts_with(kBeforeStep)) return std::nullopt;
  name.remove_prefix(kBeforeStep.size());
  uint64_t step = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), step);
  return error == std::errc() ? std::optional(step) : std::nullopt;
}

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_BASE_NAME_H_
