// What each kind of fault does to a run, as far as judging goes.
//
// The kinds are known by name: the oracle links nothing of the injectors. A
// kind that is not in the table has no trait: nothing is excused by it.
#ifndef GAUNTLET_HARNESS_ORACLE_FAULT_TRAITS_H_
#define GAUNTLET_HARNESS_ORACLE_FAULT_TRAITS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/record/record.h"

namespace gauntlet {

struct FaultTraits {
  bool ends_life = false;       // the process is gone, and says no word more
  bool may_end_life = false;    // it may be gone, or be taken for gone
  bool fails_device = false;    // its worker is told, and leaves with a word
  bool gives_notice = false;    // a termination notice, and time to leave
  bool tells_error = false;     // an operation fails, and the engine is told
  bool damages_store = false;   // takes committed bytes away, and lies about it
  bool cuts_power = false;      // ends all lives, and keeps what is durable
  bool kills_launcher = false;  // whose workers are to end soon after it
};

// One process goes, and all else stays.
inline constexpr FaultTraits kDeathOfOne = {.ends_life = true,
                                            .may_end_life = true};

FaultTraits TraitsOf(const RecordFault& fault);

// Returns the planned fault of that id, or null.
const RecordFault* FindFault(const Record& record, std::string_view id);

// Profile of a disk that says Ok to syncs and settles nothing.
inline constexpr std::string_view kLyingDisk = "lying-fsync";

// Returns how much later at the most the process is gone that it fires in;
// nullopt: it stays.
std::optional<int64_t> KillsAfter(const RecordFault& fault);

// Whether the life that it fires in is over there and then.
bool DiesAtOnce(const RecordFault& fault);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_FAULT_TRAITS_H_
