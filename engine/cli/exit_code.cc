#include "engine/cli/exit_code.h"

#include <array>

namespace gauntlet {
namespace {

constexpr std::array kExitCodes = {
    ExitCodeInfo{ExitCode::kOk,
                 "everything selected passed; training is complete (also "
                 "without the last checkpoint if --export succeeded, with a "
                 "warning)"},
    ExitCodeInfo{
        ExitCode::kViolated,
        "an invariant was violated, results differ for one seed, "
        "training failed for good, a figure of bench is void, ckpt verify and "
        "diff found damage or "
        "a difference, report --compare a new failure, or explore "
        "--fail-on-missed-goals a goal that was missed"},
    ExitCodeInfo{ExitCode::kUsage,
                 "an error on the command line, in a scenario, or in a file or "
                 "directory that it names; crash-test: its program fails "
                 "without a crash (in a scenario that is inconclusive, 3, as "
                 "other cases still run)"},
    ExitCodeInfo{
        ExitCode::kNoVerdict,
        "inconclusive: a fault never fired, a replay diverged, or the "
        "harness itself failed; standard output could not be written (train "
        "keeps its own code then), or the file of train --trace; memory ran "
        "out, which ends it at once, whatever it had found"},
    ExitCodeInfo{ExitCode::kNothingSelected, "nothing was selected"},
    ExitCodeInfo{ExitCode::kLimitBroken, "bench: a median is beyond a --limit"},
    ExitCodeInfo{ExitCode::kSkippedUnderStrict,
                 "something was skipped, under --strict"},
    ExitCodeInfo{ExitCode::kNoCheckpoint,
                 "there are checkpoints and none of them can be loaded, or "
                 "the one that ckpt is asked for is damaged; evaluate --once: "
                 "there is none to load"},
    ExitCodeInfo{ExitCode::kOtherJob,
                 "the checkpoints belong to another job: use another --ckpt, "
                 "or the original flags"},
    ExitCodeInfo{ExitCode::kNotFinite,
                 "train --stop-on-nan: the loss or the state is infinite or "
                 "NaN; a restart would compute the same. Checkpoints are kept"},
    ExitCodeInfo{ExitCode::kLostWorker,
                 "train: retry: a worker, the disk or memory failed and "
                 "nothing here restarts it; the last checkpoint could not be "
                 "saved, or there was no room for a claim, process or thread "
                 "(free space first); another run still holds --ckpt, or "
                 "another process the rank"},
    ExitCodeInfo{
        ExitCode::kInterrupted,
        "interrupted: Ctrl-C, SIGTERM or SIGHUP to run, explore, crash-test, "
        "bench or replay; a second Ctrl-C to train, which ends it at once "
        "(after the first one: 143)"},
    ExitCodeInfo{
        ExitCode::kKilled,
        "killed with signal 9 (128 + 9), by kill -9 or for lack of memory. In "
        "a scenario: the launcher was killed (do: kill_launcher) and was not "
        "started again (preemption.requeue)"},
    ExitCodeInfo{
        ExitCode::kStopped,
        "train: stopped by a preemption notice, such as SIGTERM or the first "
        "Ctrl-C, after a save if --ckpt is given (--preempted-code changes "
        "this code); evaluate: stopped by a signal"},
};

}  // namespace

ExitCode ExitForInspect(const Status& status) {
  if (status.code() == Code::kOtherJob) return ExitCode::kOtherJob;
  const bool damaged = status.code() == Code::kDataLoss ||
                       status.code() == Code::kFailedPrecondition;
  return damaged ? ExitCode::kNoCheckpoint : ExitCode::kUsage;
}

std::span<const ExitCodeInfo> AllExitCodes() { return kExitCodes; }

}  // namespace gauntlet
