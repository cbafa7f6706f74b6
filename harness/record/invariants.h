// Names of the invariants that the oracle checks on records.
//
// Scenarios name them and reports print them. The checks are in
// harness/oracle/.
#ifndef GAUNTLET_HARNESS_RECORD_INVARIANTS_H_
#define GAUNTLET_HARNESS_RECORD_INVARIANTS_H_

#include <span>
#include <string_view>

namespace gauntlet {

struct InvariantInfo {
  std::string_view name;         // "resume-point"
  std::string_view description;  // one line
};

// Returns all invariants, in the order of reports.
std::span<const InvariantInfo> AllInvariants();
// Returns true iff an invariant has that name.
bool IsInvariant(std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_INVARIANTS_H_
