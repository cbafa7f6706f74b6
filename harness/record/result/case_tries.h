// Several runs of one case in the real world: gauntlet run --retries.
#ifndef GAUNTLET_HARNESS_RECORD_RESULT_CASE_TRIES_H_
#define GAUNTLET_HARNESS_RECORD_RESULT_CASE_TRIES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/result/result.h"

namespace gauntlet {

// Verdict on a flaky case: its first try did not pass, but a later one did.
enum class FlakyVerdict : uint8_t { kFails, kPasses };

// Returns the name of the case in its try number `number`: "CASE" in the first,
// "CASE~try-2" in the second.
std::string NameOfTry(std::string_view case_name, int number);
// Returns the name of a try's folder: "CASE.real" for the first,
// "CASE~try-2.real" for the second. No case name contains '~'.
std::string FolderOfTry(std::string_view case_name, std::string_view world,
                        int number);

// Joins the tries of a case into one result. If there are several, the reason
// begins with "failed 1 of 2 tries". The details are then those of the last try
// if the case passes, else those of the first failure. REQUIRES: there is a
// try, and only the last one may have passed.
CaseResult JoinTries(const std::vector<CaseResult>& tries, FlakyVerdict flaky);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_RESULT_CASE_TRIES_H_
