// Texts about the facts of a run.
#ifndef GAUNTLET_HARNESS_RECORD_TEXT_FACTS_TEXT_H_
#define GAUNTLET_HARNESS_RECORD_TEXT_FACTS_TEXT_H_

#include <cstdint>
#include <string>

#include "harness/record/verdict.h"

namespace gauntlet {

// Returns "2 restarts", "1 restart (requeue)" or "3 restarts (1 requeue)".
std::string RestartsText(const RunFacts& facts);

// Returns the number of distinct steps that were recomputed.
uint64_t CountRecomputed(const RunFacts& facts);

// Returns "2 steps recomputed"; "5 steps recomputed, 12 recomputations in all"
// if some were recomputed more than once; "2 steps to recompute" if the run
// ended before it recomputed any. Adds ", at most 3 after each restart" if no
// restart recomputed all of them.
std::string RecomputedText(const RunFacts& facts);

// Returns "resumed from step 5, 2 steps recomputed". If the run resumed from no
// checkpoint, returns "resumed from memory at step 7, 0 steps recomputed"; ""
// if it did not resume.
std::string ResumedText(const RunFacts& facts);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_TEXT_FACTS_TEXT_H_
