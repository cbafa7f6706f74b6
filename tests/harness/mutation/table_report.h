// A mutation table as text and as JSON.
#ifndef GAUNTLET_TESTS_HARNESS_MUTATION_TABLE_REPORT_H_
#define GAUNTLET_TESTS_HARNESS_MUTATION_TABLE_REPORT_H_

#include <string>

#include "tests/harness/mutation/mutation_table.h"

namespace gauntlet {

// Returns one row per group, with "caught/tried" in each column. Below the rows
// are the mutants without effect, with their reasons, and the number of
// records.
std::string RenderTable(const MutationTable& table);
// Returns survivors by mutation, most frequent first, each with an example.
std::string RenderSurvivorCounts(const MutationTable& table);
// Returns all survivors, one per line.
std::string RenderSurvivors(const MutationTable& table);
// Returns the rows of pinned_cells.h.
std::string RenderPins(const MutationTable& table);
std::string TableToJson(const MutationTable& table);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_TABLE_REPORT_H_
