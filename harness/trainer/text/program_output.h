// Reads the output of a program.
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

// The last line that is not blank, without control characters, at most 300
// bytes of it. Where torchrun sums up, the exception of the rank that failed.
// Empty: there is none.
std::string LastLine(std::string_view output);
// At most so many of the last lines.
std::vector<std::string> LastLines(std::string_view output, size_t most);

// True if the output ends in an exception or abort of a known runtime (Python,
// C++, Rust), rather than in a message.
bool EndsInException(std::string_view output);

// Finds a step in the output: the first group of the first line that matches.
class StepPattern {
 public:
  // An ECMAScript regular expression with one group of digits.
  // kInvalidArgument.
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
