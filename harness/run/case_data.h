// Checks the data of cases before any of them runs: a mistake in a scenario's
// data is the user's to mend, not a verdict on the engine.
#ifndef GAUNTLET_HARNESS_RUN_CASE_DATA_H_
#define GAUNTLET_HARNESS_RUN_CASE_DATA_H_

#include <map>
#include <string>

#include "engine/data/dataset.h"
#include "engine/job/job.h"
#include "engine/status.h"
#include "engine/world/storage.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

class CaseDataChecker {
 public:
  explicit CaseDataChecker(Storage& storage) : storage_(storage) {}

  // Returns kInvalidArgument if the data of the case's job, or of the job that
  // its warm start comes from, cannot be read, do not fill the epochs that the
  // job asks for, or do not fit its layers. The message names the scenario's
  // file and line, the case and the key. Data from files are read once for all
  // cases; generated data are not made.
  Status Check(const Case& one);

 private:
  Status CheckJob(const JobSpec& job);
  // Without its features and labels.
  Result<Dataset> OutlineOf(const DataSpec& spec);

  Storage& storage_;
  std::map<std::string, Result<Dataset>> outlines_;  // by the spec as JSON
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_CASE_DATA_H_
