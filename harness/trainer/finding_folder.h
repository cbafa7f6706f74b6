// Writes a folder for each finding.
#ifndef GAUNTLET_HARNESS_TRAINER_FINDING_FOLDER_H_
#define GAUNTLET_HARNESS_TRAINER_FINDING_FOLDER_H_

#include <filesystem>

#include "engine/status.h"
#include "harness/trainer/crash_trials.h"
#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// Writes folder/findings/1, 2, …, at most kMostFindingFolders of them. Each
// has:
//   before/        the directories as the crash left them
//   repro.sh       resumes from them; requires only a shell and the program.
//                  If results diverged, compares them byte by byte with those
//                  of the recorded run (exit code 1: they differ). If work
//                  was lost, prints the reason (exit code 0: the run no
//                  longer rewrites the file that it rewrote in the crash test;
//                  else 1)
//   scenario.yaml  for `gauntlet run`
//   issue.md       a draft for the program's maintainers
// Errors: those of the disk.
Status WriteFindings(const TrialSetting& setting, const CrashTestResult& result,
                     const std::filesystem::path& folder);
inline constexpr size_t kMostFindingFolders = 50;

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_FINDING_FOLDER_H_
