// A crash of a training program and what became of it: facts, and the verdict.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_CRASH_TRIAL_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_CRASH_TRIAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/trace/log/file_operation.h"
#include "harness/trainer/run/trial.h"

namespace gauntlet {

enum class CrashFault : uint8_t {
  kKill,       // SIGKILL between two operations
  kTornWrite,  // SIGKILL in a write
  kPowerLoss,  // what was not synced may be lost
  kDiskFull,   // ENOSPC from an operation on
  kIoError,    // EIO at one operation
  kSigterm,    // SIGTERM, and SIGKILL after a grace
  kPause,      // SIGSTOP for a while
  kRankDeath,  // SIGKILL to one rank; the others go on as they do
};
inline constexpr std::array<std::string_view, 8> kCrashFaultNames = {
    "kill", "torn", "power", "enospc", "eio", "sigterm", "pause", "rank"};
constexpr std::string_view CrashFaultName(CrashFault fault) {
  return kCrashFaultNames[static_cast<size_t>(fault)];
}

// nullopt: none has that name.
std::optional<CrashFault> CrashFaultOfName(std::string_view name);
// The fault of an id, such as "kill-120" or "weak-3-data0"; nullopt: none.
std::optional<CrashFault> FaultOfId(std::string_view id);

enum class RecoveryVerdict : uint8_t {
  kRecovered,           // equal results, from the newest complete checkpoint
  kResumePointUnknown,  // equal results; from which checkpoint is not known
  kLostWork,            // equal results, from an older checkpoint or from none
  kDiverged,            // other results, without an error
  kFails,               // the resumed run ends with an error
  kHangs,               // the resumed run does not end
  kRefused,             // it says why, and there is no complete checkpoint
};
inline constexpr std::array<std::string_view, 7> kRecoveryVerdictNames = {
    "recovered", "resume-point-unknown",
    "lost-work", "diverged",
    "fails",     "hangs",
    "refused"};
constexpr std::string_view RecoveryVerdictName(RecoveryVerdict verdict) {
  return kRecoveryVerdictNames[static_cast<size_t>(verdict)];
}
constexpr bool IsFinding(RecoveryVerdict verdict) {
  return verdict == RecoveryVerdict::kLostWork ||
         verdict == RecoveryVerdict::kDiverged ||
         verdict == RecoveryVerdict::kFails ||
         verdict == RecoveryVerdict::kHangs;
}

// A version of a checkpoint, as a resumed run read it. Numbers are those of
// operations of the recording, from 1.
struct CheckpointVersion {
  // The last operation that made its contents; 0: nothing was read, the run
  // started over.
  uint64_t operation = 0;
  // The first operation on its files since the version before.
  uint64_t begin = 0;
  std::vector<std::string> files;  // names for people
  // The newest of these, if no other version has a file of its name; else
  // empty.
  std::string own_file;
};

struct CrashTrial {
  std::string id;  // "kill-120"
  CrashFault fault = CrashFault::kKill;
  // So many operations of the recording had happened.
  uint64_t operation = 0;
  // Operation at which it happened: also one that was torn, or failed; 0: the
  // crash came before the first.
  uint64_t fault_operation = 0;
  std::string point;              // "after rename of a.tmp to a", for people
  std::string file_pattern;       // of the operation's file: "ckpt-*/model.pt"
  int32_t rank = kUnknownRank;    // that did the operation
  std::vector<std::string> lost;  // by a power loss, a line each
  // A kill that shows which checkpoints are complete, beside the crashes that
  // were asked for: its verdict is no finding.
  bool is_for_judging = false;
  // True if the run met the fault and ended well by itself; nothing was
  // resumed.
  bool goes_on = false;
  bool has_happened = true;  // false: the run never came to the fault
  TrialEnd end;              // of the resumed run, or of the run itself
  bool has_equal_results = false;
  std::vector<std::string> differences;  // of results, a line each
  std::string last_line;  // of the output of a run that ended with an error
  std::vector<std::string> tail;  // likewise, its last lines
  bool says_why = false;          // that error is a message, not an exception
  // Version that the resumed run read; nullopt: not known.
  std::optional<CheckpointVersion> resumed_from;
  std::optional<int64_t> resumed_step;  // as it printed it
  // A checkpoint that was there and that it made again; empty: none.
  std::string made_again;
};

struct CrashVerdict {
  RecoveryVerdict verdict = RecoveryVerdict::kRecovered;
  std::string reason;  // one line
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_CRASH_TRIAL_H_
