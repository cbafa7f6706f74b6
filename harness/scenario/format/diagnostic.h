// Errors and warnings about a scenario file, with their places.
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

// A place in a file, both counted from 1.
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

// The name that a mistyped one is most likely to stand for; "" if none is
// near (an edit distance above a third of its length).
std::string NearestName(std::string_view mistyped,
                        const std::vector<std::string>& names);
// "did you mean x?", or "one of a, b, c" where none is near and they are few.
std::string SuggestName(std::string_view mistyped,
                        const std::vector<std::string>& names);

// As a compiler would say it, three lines:
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

// Collects errors and warnings; the same one is kept once, however often it is
// said.
class Diagnostics {
 public:
  void Error(Place place, std::string message, std::string hint = "");
  // The file is read all the same.
  void Warning(Place place, std::string message, std::string hint = "");
  // These two count errors only.
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  // In the order of the file.
  std::vector<Diagnostic> Sorted() const;
  std::vector<Diagnostic> SortedWarnings() const;

 private:
  std::vector<Diagnostic> list_;
  std::vector<Diagnostic> warnings_;
};

// kInvalidArgument, one line: "job.yaml:3:9: unknown key 'layer'; did you mean
// layers? (and 2 more)". REQUIRES: there is a diagnostic.
Status ToStatus(const Diagnostics& diagnostics, std::string_view file);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_DIAGNOSTIC_H_
