// How processes ended, in their own words.
#ifndef GAUNTLET_HARNESS_ORACLE_LAST_WORDS_H_
#define GAUNTLET_HARNESS_ORACLE_LAST_WORDS_H_

#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// Whether it left with the code that says that no restart helps now.
bool LeftToStartLater(const LifeEvents& life);
// Likewise, with a state that it could not save.
bool LeftUnsaved(const LifeEvents& life);

// Returns true iff the last launcher's result is "done".
bool IsDone(const Record& record);

// "; meanwhile memory ran out: …", for the end of a finding about a process
// that ended; "" where the kernel killed none.
std::string ByTheKernel(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_LAST_WORDS_H_
