// The cases that `gauntlet run --list` prints.
#ifndef GAUNTLET_HARNESS_CLI_RUN_CASE_LIST_H_
#define GAUNTLET_HARNESS_CLI_RUN_CASE_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "harness/run/suite.h"

namespace gauntlet {

// Returns the width of the column of names, at most 48 characters.
size_t NameWidth(const std::vector<SuiteItem>& items);

// Returns a line for each case with world, name, place in its file and labels;
// then the number of cases.
std::string RenderCaseList(const std::vector<SuiteItem>& items);
// Returns one line of schema gauntlet.cases/v1.
std::string CaseListToJson(const std::vector<SuiteItem>& items);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_CASE_LIST_H_
