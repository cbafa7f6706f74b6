// Errors and warnings about a scenario file, with their positions.
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_DIAGNOSTIC_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_DIAGNOSTIC_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

// A position in a file; line and column count from 1.
struct Place {
  size_t line = 1;
  size_t column = 1;

  auto operator<=>(const Place&) const = default;
};

struct Diagnostic {
  Place place;
  std::string message;  // "unknown fault point 'ckpt.renam'"
  std::string hint;     // "did you mean ckpt.rename?"; may be empty

  auto operator<=>(const Diagnostic&) const = default;
};

// Returns "did you mean x?" if a name is near the mistyped one; else "one of a,
// b, c" if there are few names; else "".
std::string SuggestName(std::string_view mistyped,
                        const std::vector<std::string>& names);

// RenderDiagnostic returns three lines, like a compiler's diagnostic:
//
//   scenarios/new.yaml:14:14: error: unknown fault point 'ckpt.renam'
//     14 |       point: ckpt.renam
//        |              ^ did you mean ckpt.rename?
//
// `text` is the whole file.
enum class Severity : uint8_t { kError, kWarning };
std::string RenderDiagnostic(const Diagnostic& diagnostic,
                             std::string_view file, std::string_view text,
                             Severity severity = Severity::kError);

// Collects errors and warnings. Keeps each one once, even if it is added
// repeatedly.
class Diagnostics {
 public:
  void Error(Place place, std::string message, std::string hint = "");
  // Adds a warning; the file is still read.
  void Warning(Place place, std::string message, std::string hint = "");
  // Both count errors only.
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  // Sorted returns the errors, SortedWarnings the warnings, each in the order
  // of the file.
  std::vector<Diagnostic> Sorted() const;
  std::vector<Diagnostic> SortedWarnings() const;

 private:
  std::vector<Diagnostic> list_;
  std::vector<Diagnostic> warnings_;
};

// Returns kInvalidArgument, one line: "job.yaml:3:9: unknown key 'layer'; did
// you mean layers? (and 2 more)". REQUIRES: there is an error.
Status ToStatus(const Diagnostics& diagnostics, std::string_view file);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_DIAGNOSTIC_H_
