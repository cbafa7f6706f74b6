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

  // Returns kInvalidArgument if the data of the case's job, or of the job from
  // which it takes a warm start, cannot be read, do not fill the job's epochs,
  // or do not fit its layers. The message names the case and the key; the place
  // is Case::data_place. Data from files are read once for all cases; generated
  // data are not generated here.
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
