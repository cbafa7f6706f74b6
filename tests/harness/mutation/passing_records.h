// Records of scenarios, run in the simulated world.
#ifndef GAUNTLET_TESTS_HARNESS_MUTATION_PASSING_RECORDS_H_
#define GAUNTLET_TESTS_HARNESS_MUTATION_PASSING_RECORDS_H_

#include <memory>
#include <string>
#include <vector>

#include "chaos/sim/scheduler/fiber.h"
#include "engine/status.h"
#include "harness/record/record.h"
#include "harness/run/executor/sim_run.h"
#include "harness/run/reference.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns all scenario files in and below the folder, ordered by path. Leaves
// out those in `peers`, which train for a long time.
std::vector<std::string> FindSuiteFiles(const std::string& folder);

// Returns the cases of the files. kInvalidArgument: a file cannot be read.
Result<std::vector<Case>> LoadCases(const std::vector<std::string>& files);

// Reason why a case takes part in the test, or why it does not.
enum class Fitness : uint8_t {
  kFits,
  kPlantedBug,  // passes if the bug is caught: no correct record
  kNotHere,     // the simulated world lacks what the case needs
};
Fitness FitnessOf(const Case& one);

// Runs one case and its variants, which differ only in their faults.
class CaseRecorder {
 public:
  CaseRecorder(References& references, FiberPool& pool)
      : references_(references), pool_(pool) {}

  // Runs the case once. Of the scenario's expectations, the record keeps only
  // the outcome, so that the judge knows no more than in an exploration.
  Result<Record> Run(const Case& one);

 private:
  References& references_;
  FiberPool& pool_;
  std::unique_ptr<RunMemo> memo_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_PASSING_RECORDS_H_
