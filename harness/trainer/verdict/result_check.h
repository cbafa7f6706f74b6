// Compares the results of runs with those of the recorded run.
#ifndef GAUNTLET_HARNESS_TRAINER_VERDICT_RESULT_CHECK_H_
#define GAUNTLET_HARNESS_TRAINER_VERDICT_RESULT_CHECK_H_

#include <filesystem>
#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/trainer_runs.h"

namespace gauntlet {

struct ResultDifferences {
  std::vector<std::string> lines;  // one line each; empty: equal results
  std::vector<std::string> files;  // paths below {out} of files that differ
};

class ResultCheck {
 public:
  // kInvalidArgument: a pattern matches no file of the reference, or the result
  // command fails.
  static Result<ResultCheck> Make(const CrashTestPlan& plan,
                                  const TrainerRuns& runs,
                                  const RunFolder& reference);

  // Excludes the files from comparisons.
  void LeaveOut(const std::vector<std::string>& files);
  // Number of files to compare; 0 with a result command.
  size_t file_count() const { return files_.size(); }
  // Returns "3 files", or "what --result-cmd prints".
  std::string Compared() const;

  // Returns the file that has the output of the result command for this run.
  static std::filesystem::path OutputFile(const RunFolder& run);

  // Compares the run's results with those of the reference. Ignores files that
  // the reference does not have. Thread-safe. Errors: kCancelled; those of
  // running the result command.
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
