// Number of mutated records that the judge fails, by mutation and harmless
// fault.
#ifndef GAUNTLET_TESTS_HARNESS_MUTATION_MUTATION_TABLE_H_
#define GAUNTLET_TESTS_HARNESS_MUTATION_MUTATION_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/record/verdict.h"
#include "harness/run/reference.h"
#include "harness/scenario/scenario.h"
#include "tests/harness/mutation/record_mutation.h"

namespace gauntlet {

// Counts of the mutants of one group (row) with one harmless fault (column).
// `tried` does not include `without_effect`.
struct MutationCell {
  uint64_t tried = 0;
  uint64_t caught = 0;      // judged as anything but passed
  uint64_t no_verdict = 0;  // part of `caught`: neither passed nor failed
  uint64_t without_effect = 0;
};

// A mutant that the judge passed.
struct Survivor {
  std::string scenario;  // name of the case
  std::string column;    // name of the harmless fault
  std::string group;
  std::string mutation;
  std::string place;
};

// Counts of the records in a column: mutated, or left out for a reason.
struct RecordCounts {
  uint64_t mutated = 0;
  uint64_t no_place = 0;    // the harmless fault could not be added
  uint64_t not_passed = 0;  // the unchanged record does not pass
};

struct MutationTable {
  // Counts by group, then by column.
  std::vector<std::vector<MutationCell>> cells;
  std::vector<RecordCounts> records;  // by column
  std::vector<Survivor> survivors;
  // Number of mutants without effect, by mutation and reason.
  std::map<std::pair<std::string, std::string>, uint64_t> without_effect;
  // Reasons why unchanged records do not pass, by record: "CASE with FAULT".
  std::map<std::string, std::string> not_passed;
  uint64_t planted_bugs = 0;  // cases left out as they have no correct record
  uint64_t not_here = 0;      // cases that the simulated world cannot run

  MutationTable();
};

using JudgeFunction = std::function<Verdict(const Record&)>;

struct MutationOptions {
  // Number of mutants per mutation and record, each at another place.
  uint64_t places = 1;
  JudgeFunction judge;  // null: Judge
  // Called before each case, with its name. May be null.
  std::function<void(std::string_view)> progress;
};

// Runs each case in the simulated world with each harmless fault that has a
// place in it, and mutates the records that pass. Skips cases with planted bugs
// and cases that the simulated world cannot run. Returns an error if any other
// case cannot be run.
Result<MutationTable> MeasureJudge(const std::vector<Case>& cases,
                                   References& references,
                                   const MutationOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_MUTATION_TABLE_H_
