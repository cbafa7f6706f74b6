// Pins the power of the judge: the judge must fail at least as many mutated
// records as pinned_cells.h states.
#include "tests/harness/mutation/record_mutation.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/check.h"
#include "harness/oracle/judge.h"
#include "tests/harness/mutation/harmless_fault.h"
#include "tests/harness/mutation/mutation_table.h"
#include "tests/harness/mutation/passing_records.h"
#include "tests/harness/mutation/pinned_cells.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::vector<Case> PinnedCases(size_t count) {
  std::vector<std::string> files;
  for (const std::string_view name : kPinnedScenarios) {
    if (files.size() == count) break;
    files.push_back(fmt::format("{}/{}", GAUNTLET_SCENARIOS, name));
  }
  const Result<std::vector<Case>> cases = LoadCases(files);
  CHECK(cases.ok(), cases.status().message());
  return *cases;
}

MutationTable Measure(const std::vector<Case>& cases, JudgeFunction judge) {
  References references("", "");
  const Result<MutationTable> table = MeasureJudge(
      cases, references, {.judge = std::move(judge), .progress = nullptr});
  CHECK(table.ok(), table.status().message());
  return *table;
}

// Returns the cells that are worse than their pins, one per line: fewer mutants
// are caught or made, or more are missed.
std::string CellsBelow(const MutationTable& table) {
  const auto groups = AllMutationGroups();
  const auto faults = AllHarmlessFaults();
  std::string below;
  for (size_t row = 0; row < groups.size(); ++row) {
    for (size_t column = 0; column < faults.size(); ++column) {
      const MutationCell& cell = table.cells[row][column];
      const PinnedCell& pinned = kPinnedCells.at(row).cells.at(column);
      const uint64_t missed = cell.tried - cell.caught;
      if (cell.caught >= pinned.caught && cell.tried >= pinned.tried &&
          missed <= pinned.tried - pinned.caught) {
        continue;
      }
      below += fmt::format("{} with {}: caught {} of {}, pinned are {} of {}\n",
                           groups[row].name, faults[column].name, cell.caught,
                           cell.tried, pinned.caught, pinned.tried);
    }
  }
  return below;
}

// Returns a table in which each cell equals its pin.
MutationTable PinnedTable() {
  MutationTable table;
  for (size_t row = 0; row < table.cells.size(); ++row) {
    for (size_t column = 0; column < table.cells[row].size(); ++column) {
      const PinnedCell& pinned = kPinnedCells.at(row).cells.at(column);
      table.cells[row][column] = {.tried = pinned.tried,
                                  .caught = pinned.caught};
    }
  }
  return table;
}

// Returns the number of caught mutants of the group, over all harmless faults.
uint64_t CaughtOf(const MutationTable& table, std::string_view group) {
  const auto groups = AllMutationGroups();
  const auto found = std::ranges::find(groups, group, &MutationGroup::name);
  uint64_t caught = 0;
  for (const MutationCell& cell :
       table.cells.at(static_cast<size_t>(found - groups.begin()))) {
    caught += cell.caught;
  }
  return caught;
}

TEST(RecordMutationTest, CatchesAsManyMutantsAsPinned) {
  const MutationTable table =
      Measure(PinnedCases(kPinnedScenarios.size()), Judge);
  const std::string below = CellsBelow(table);
  EXPECT_TRUE(below.empty())
      << below << "record_mutations --survivors lists what the judge misses";
}

TEST(RecordMutationTest, CellBelowItsPin_IsNamed) {
  MutationTable table = PinnedTable();
  EXPECT_EQ(CellsBelow(table), "");
  --table.cells[0][0].caught;
  EXPECT_NE(CellsBelow(table).find("unexplained death with none: caught"),
            std::string::npos);
}

TEST(RecordMutationTest, JudgeThatForgetsAnInvariant_CatchesFewer) {
  const auto forgetful = [](const Record& record) {
    Verdict verdict = Judge(record);
    if (verdict.reason == "samples") verdict.kind = VerdictKind::kPass;
    return verdict;
  };
  const std::vector<Case> cases = PinnedCases(3);
  const MutationTable whole = Measure(cases, Judge);
  const MutationTable less = Measure(cases, forgetful);
  EXPECT_LT(CaughtOf(less, "sample twice"), CaughtOf(whole, "sample twice"));
  EXPECT_LT(CaughtOf(less, "samples"), CaughtOf(whole, "samples"));
  EXPECT_EQ(CaughtOf(less, "digest"), CaughtOf(whole, "digest"));
}

TEST(RecordMutationTest, PinsNameEachGroupInItsOrder) {
  const auto groups = AllMutationGroups();
  ASSERT_EQ(kPinnedCells.size(), groups.size());
  for (size_t row = 0; row < groups.size(); ++row) {
    EXPECT_EQ(kPinnedCells.at(row).group, groups[row].name);
  }
}

TEST(RecordMutationTest, NamesAreUniqueAndGroupsAreKnown) {
  std::set<std::string> names;
  const auto groups = AllMutationGroups();
  for (const Mutation& mutation : AllMutations()) {
    EXPECT_TRUE(names.insert(mutation.name).second) << mutation.name;
    EXPECT_NE(std::ranges::find(groups, mutation.group, &MutationGroup::name),
              groups.end())
        << mutation.group;
  }
}

// A mutant equal to its record would pass, and count as missed.
TEST(RecordMutationTest, EachMutantDiffersFromItsRecord_AndIsMadeAgain) {
  References references("", "");
  FiberPool pool;
  for (const Case& one : PinnedCases(4)) {
    const Result<Record> record = CaseRecorder(references, pool).Run(one);
    ASSERT_TRUE(record.ok()) << record.status().message();
    for (const Mutation& mutation : AllMutations()) {
      Choice choice(1);
      Choice again(1);
      const auto mutant = mutation.apply(*record, choice);
      if (!mutant) continue;
      EXPECT_FALSE(mutant->record == *record) << mutation.name;
      EXPECT_FALSE(mutant->place.empty()) << mutation.name;
      EXPECT_TRUE(mutation.apply(*record, again)->record == mutant->record);
    }
  }
}

}  // namespace
}  // namespace gauntlet
