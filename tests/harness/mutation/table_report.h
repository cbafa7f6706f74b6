// A mutation table as text and as JSON.
#ifndef GAUNTLET_TESTS_HARNESS_MUTATION_TABLE_REPORT_H_
#define GAUNTLET_TESTS_HARNESS_MUTATION_TABLE_REPORT_H_

#include <string>

#include "tests/harness/mutation/mutation_table.h"

namespace gauntlet {

// One row a group: "caught/tried" in each column. Below it the mutants without
// effect, with their reasons, and the number of records.
std::string RenderTable(const MutationTable& table);
// Survivors by mutation, the most frequent first, each with an example.
std::string RenderSurvivorCounts(const MutationTable& table);
// All survivors, one a line.
std::string RenderSurvivors(const MutationTable& table);
// The rows of pinned_cells.h.
std::string RenderPins(const MutationTable& table);
std::string TableToJson(const MutationTable& table);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_TABLE_REPORT_H_
