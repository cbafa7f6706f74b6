// Mutations after which a restart resumes from another state than that of the
// newest checkpoint.
#ifndef GAUNTLET_TESTS_HARNESS_MUTATION_RESUME_EDIT_H_
#define GAUNTLET_TESTS_HARNESS_MUTATION_RESUME_EDIT_H_

#include <optional>

#include "tests/harness/mutation/record_mutation.h"

namespace gauntlet {

// Makes a generation resume from an older checkpoint, and train again from
// there.
std::optional<Mutant> ResumeFromOlder(const Record& record, Choice& choice);
// As ResumeFromOlder, but the chief reports that the newer checkpoint does not
// verify.
std::optional<Mutant> RejectGood(const Record& record, Choice& choice);
// Makes a generation start from the initial state, and train again from there.
std::optional<Mutant> StartFromNothing(const Record& record, Choice& choice);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_RESUME_EDIT_H_
