// The names of the invariants that records are judged by.
//
// They stand here because scenarios name them and reports print them; what each
// one checks is in harness/oracle/.
#ifndef GAUNTLET_HARNESS_RECORD_INVARIANTS_H_
#define GAUNTLET_HARNESS_RECORD_INVARIANTS_H_

#include <span>
#include <string_view>

namespace gauntlet {

struct InvariantInfo {
  std::string_view name;         // "resume-point"
  std::string_view description;  // one line
};

// All of them, in the order of reports.
std::span<const InvariantInfo> AllInvariants();
// Whether there is one of that name.
bool IsInvariant(std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_INVARIANTS_H_
