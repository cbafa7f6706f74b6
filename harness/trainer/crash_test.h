// Crash test of a training program: records the program once, then resumes it
// from each on-disk state that a crash could leave.
#ifndef GAUNTLET_HARNESS_TRAINER_CRASH_TEST_H_
#define GAUNTLET_HARNESS_TRAINER_CRASH_TEST_H_

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "engine/status.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/run_process.h"
#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// Receives the progress of the test. Calls come from any thread, but never at
// the same time.
class CrashTestProgress {
 public:
  virtual ~CrashTestProgress() = default;
  // `stage` is one line, such as "recording" or "second run".
  virtual void OnStage(std::string_view stage) = 0;
  virtual void OnTrial(const CrashTrial& trial, uint64_t done) = 0;
};

// Runs the test in `folder`, an absolute path of an empty folder. Keeps the
// recorded run in folder/runs/recording, with its operations in `log` there,
// and each finding in folder/findings/N, with the files as the crash left them.
//
// Errors, one line each. kInvalidArgument: the command does not exist, fails,
// writes nothing under {out}, or does not end; or a pattern matches nothing.
// kForbidden: the system does not permit tracing. kCancelled: interrupted
// before the first trial. kResourceExhausted: the disk is full, or the program
// writes more than the log may hold.
Result<CrashTestResult> RunCrashTest(const CrashTestPlan& plan,
                                     const RunHost& host,
                                     const std::filesystem::path& folder,
                                     CrashTestProgress& progress);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_CRASH_TEST_H_
