// Extracts information from the output of a program.
#ifndef GAUNTLET_HARNESS_TRAINER_TEXT_PROGRAM_OUTPUT_H_
#define GAUNTLET_HARNESS_TRAINER_TEXT_PROGRAM_OUTPUT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

// Returns the last line that is not blank, without control characters and cut
// to 300 bytes. If the output ends with torchrun's summary, returns the
// exception of the failed rank. Returns "" if there is no line.
std::string LastLine(std::string_view output);
// Returns the last lines, at most `most`.
std::vector<std::string> LastLines(std::string_view output, size_t most);

// Returns true iff the output ends in an exception or abort of a known runtime
// (Python, C++, Rust), rather than in a message.
bool EndsInException(std::string_view output);

// Finds the number of a step in the output: the integer that the group matches,
// in the first line in which it matches one. Searches only the first 4 KiB of a
// line.
class StepPattern {
 public:
  // kInvalidArgument: `expression` is no ECMAScript regular expression with
  // exactly one group.
  static Result<StepPattern> Parse(const std::string& expression);
  std::optional<int64_t> Find(std::string_view output) const;
  const std::string& text() const;

 private:
  struct Compiled;
  explicit StepPattern(std::shared_ptr<const Compiled> compiled);
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_TEXT_PROGRAM_OUTPUT_H_
