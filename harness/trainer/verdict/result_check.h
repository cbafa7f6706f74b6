// The results of runs against those of the recorded one.
#ifndef GAUNTLET_HARNESS_TRAINER_VERDICT_RESULT_CHECK_H_
#define GAUNTLET_HARNESS_TRAINER_VERDICT_RESULT_CHECK_H_

#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/trainer_runs.h"

namespace gauntlet {

struct ResultDifferences {
  std::vector<std::string> lines;  // a line each; empty: the results are equal
  std::vector<std::string> files;  // that differ, below {out}
};

class ResultCheck {
 public:
  // kInvalidArgument: a pattern matches no file of the reference, or the result
  // command fails.
  static Result<ResultCheck> Make(const CrashTestPlan& plan,
                                  const TrainerRuns& runs,
                                  const RunFolder& reference);

  // Files are no longer compared.
  void LeaveOut(const std::vector<std::string>& files);
  // Number of files that are compared; 0 under a result command.
  size_t file_count() const { return files_.size(); }
  // "3 files", or the command.
  std::string Compared() const;

  // Files that only the run has do not count. Safe from several threads.
  // kCancelled; errors of the result command's run.
  Result<ResultDifferences> Compare(const RunFolder& run) const;

 private:
  ResultCheck(const CrashTestPlan& plan, const TrainerRuns& runs,
              RunFolder reference);
  Result<std::string> CommandOutput(const RunFolder& run) const;

  const CrashTestPlan* plan_;
  const TrainerRuns* runs_;
  RunFolder reference_;
  std::vector<std::string> files_;
  std::string output_;  // of the result command
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_RESULT_CHECK_H_
