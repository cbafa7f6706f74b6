// The cases that a run would run, for `gauntlet run --list`.
#ifndef GAUNTLET_HARNESS_CLI_RUN_CASE_LIST_H_
#define GAUNTLET_HARNESS_CLI_RUN_CASE_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "harness/run/suite.h"

namespace gauntlet {

// Returns the width of the column of names, at most 48 characters.
size_t NameWidth(const std::vector<SuiteItem>& items);

// A line each: world, name, place in its file and labels; then their number.
std::string RenderCaseList(const std::vector<SuiteItem>& items);
// Schema gauntlet.cases/v1, one line.
std::string CaseListToJson(const std::vector<SuiteItem>& items);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_CASE_LIST_H_
