// Restarts that resume from another state than the newest checkpoint.
#ifndef GAUNTLET_TESTS_HARNESS_MUTATION_RESUME_EDIT_H_
#define GAUNTLET_TESTS_HARNESS_MUTATION_RESUME_EDIT_H_

#include <optional>

#include "tests/harness/mutation/record_mutation.h"

namespace gauntlet {

// A generation resumes from an older checkpoint, and trains again from there.
std::optional<Mutant> ResumeFromOlder(const Record& record, Choice& choice);
// The same, and its chief says that the newer checkpoint does not verify.
std::optional<Mutant> RejectGood(const Record& record, Choice& choice);
// A generation starts from the initial state, and trains again from there.
std::optional<Mutant> StartFromNothing(const Record& record, Choice& choice);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_RESUME_EDIT_H_
