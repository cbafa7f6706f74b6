// Checks the data of cases before any of them runs: a mistake in a scenario's
// data is an error of the user, not a verdict on the engine.
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

  // Returns kInvalidArgument if the data of the case cannot be read, do not
  // fill the epochs of its job, or do not fit the layers. For a warm start,
  // checks the data of the earlier job in the same way. The message names the
  // case and the key; the place of the error is Case::data_place. Data in files
  // are read once for all cases; generated data are not generated here.
  Status Check(const Case& one);

 private:
  Status CheckJob(const JobSpec& job);
  // Returns the data set without its features and labels.
  Result<Dataset> OutlineOf(const DataSpec& spec);

  Storage& storage_;
  std::map<std::string, Result<Dataset>> outlines_;  // by the spec as JSON
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_CASE_DATA_H_
