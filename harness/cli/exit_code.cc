#include "harness/cli/exit_code.h"

#include <array>

namespace gauntlet {
namespace {

constexpr std::array kExitCodes = {
    ExitCodeInfo{ExitCode::kHeld,
                 "everything selected held; trained to the end (with the model "
                 "exported, even where the last checkpoint is missing, which "
                 "a line says)"},
    ExitCodeInfo{ExitCode::kViolated,
                 "an invariant was violated, results differ for one seed, "
                 "training failed for good, or ckpt verify and diff found "
                 "damage or a difference"},
    ExitCodeInfo{
        ExitCode::kUsage,
        "a mistake on the command line, in a scenario, or in what a path "
        "leads to"},
    ExitCodeInfo{
        ExitCode::kNoVerdict,
        "no verdict: a fault never fired, a replay went another way, or the "
        "harness itself failed; standard output could not be written (train "
        "keeps its own code then); memory ran out, which ends it at once, "
        "whatever it had found"},
    ExitCodeInfo{ExitCode::kNothingSelected, "nothing was selected"},
    ExitCodeInfo{ExitCode::kLimitBroken, "a limit of a benchmark was broken"},
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
                 "NaN; another start computes the same. Checkpoints stay, "
                 "none is of such a state"},
    ExitCodeInfo{ExitCode::kLostWorker,
                 "train: start it again: a worker was lost, the disk failed or "
                 "memory ran out where nobody here restarts (in a cluster, or "
                 "told so); the last checkpoint could not be saved, as on a "
                 "full disk (make room first; nothing was trained twice for "
                 "it); there is no room for a claim, a process or a thread; "
                 "or another run has the --ckpt, or another process the rank, "
                 "still"},
    ExitCodeInfo{ExitCode::kInterrupted,
                 "interrupted: Ctrl-C, SIGTERM or SIGHUP to run, explore or "
                 "replay, a second Ctrl-C to train (the first saves)"},
    ExitCodeInfo{ExitCode::kStopped,
                 "train: stopped by a termination notice, after saving where "
                 "there is a --ckpt; "
                 "--preempted-code says another; evaluate: told to go"},
};

}  // namespace

ExitCode ExitForLook(const Status& status) {
  if (status.code() == Code::kOtherJob) return ExitCode::kOtherJob;
  const bool damaged = status.code() == Code::kDataLoss ||
                       status.code() == Code::kFailedPrecondition;
  return damaged ? ExitCode::kNoCheckpoint : ExitCode::kUsage;
}

std::span<const ExitCodeInfo> AllExitCodes() { return kExitCodes; }

}  // namespace gauntlet
