// Effects of each kind of fault on a run, as far as the oracle needs them.
//
// Kinds are known by name, as the oracle does not link the injectors. An
// unknown kind has no trait, so it excuses nothing.
#ifndef GAUNTLET_HARNESS_ORACLE_HISTORY_FAULT_TRAITS_H_
#define GAUNTLET_HARNESS_ORACLE_HISTORY_FAULT_TRAITS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/record/record.h"

namespace gauntlet {

struct FaultTraits {
  bool ends_life = false;       // ends its process without an exit event
  bool may_end_life = false;    // its process may end, or be declared lost
  bool fails_device = false;    // the worker detects the failure, and exits
  bool gives_notice = false;    // sends a termination notice
  bool tells_error = false;     // an operation returns an error
  bool damages_store = false;   // destroys committed bytes silently
  bool cuts_power = false;      // ends all processes; durable data stays
  bool kills_launcher = false;  // ends the launcher; its workers end soon after
};

// Traits of a fault that ends its process and does nothing else.
inline constexpr FaultTraits kDeathOfOne = {.ends_life = true,
                                            .may_end_life = true};

FaultTraits TraitsOf(const RecordFault& fault);

// Returns the planned fault of that id, or null.
const RecordFault* FindFault(const Record& record, std::string_view id);

// Disk profile whose syncs report success without making data durable.
inline constexpr std::string_view kLyingDisk = "lying-fsync";

// Returns the longest time from the fault to the end of its process; nullopt:
// the fault does not kill it (a power loss is an event of the machine).
std::optional<int64_t> KillsAfter(const RecordFault& fault);

// Returns true iff the fault ends its process at the moment that it fires.
bool DiesAtOnce(const RecordFault& fault);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_HISTORY_FAULT_TRAITS_H_
