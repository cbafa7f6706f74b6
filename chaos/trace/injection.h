// Faults injected into a traced program at one of its operations on files.
#ifndef GAUNTLET_CHAOS_TRACE_INJECTION_H_
#define GAUNTLET_CHAOS_TRACE_INJECTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chaos/trace/log/file_operation.h"
#include "engine/status.h"
#include "engine/world/clock.h"

namespace gauntlet {

enum class InjectionKind : uint8_t {
  kKillBefore,  // SIGKILL; the operation does not happen
  kKillAfter,   // SIGKILL after the operation has happened
  kTornWrite,   // only the first bytes of a write, then SIGKILL
  kFail,        // the call fails with an errno and changes nothing
  kPause,       // SIGSTOP to the process, SIGCONT after a time
  kTerminate,   // SIGTERM to the program, SIGKILL to all after a grace period
};

// Processes that an injected kill ends.
enum class KillScope : uint8_t {
  kAll,
  // Only the processes of the operation's rank. They are frozen at the
  // operation, and get SIGKILL once every other rank waits. So the rank dies in
  // the same state in every run.
  kRank,
};

// Selects an operation by pattern and number. Matching operations of all
// processes are counted in order, from 1. An operation counts only if it
// succeeds, is a crash point (IsCrashPoint) and has a call of its own (not
// `implied`). So if the program does the same as in a recording, the n-th
// operation of the recording is the n-th here.
struct OperationPattern {
  // Pattern of fnmatch(3) for the path below the watched directory; * matches
  // "/" too. A rename or link matches by either of its names.
  std::string path = "*";
  std::optional<OperationKind> kind;
  std::optional<int32_t> rank;
  uint64_t occurrence = 1;
};

// Returns true if kind, rank and path match; ignores `occurrence`.
bool Matches(const OperationPattern& pattern, const FileOperation& operation);

struct Injection {
  OperationPattern at;
  InjectionKind kind = InjectionKind::kKillBefore;
  // kTornWrite: bytes to write, at most the write's length. A write with
  // O_DIRECT is cut to whole blocks of 4096.
  uint64_t torn_bytes = 0;
  KillScope scope = KillScope::kAll;  // for both kills and kTornWrite
  int error = 0;                      // kFail: an errno
  bool repeats = false;               // kFail: at later occurrences too
  Duration duration{};  // kPause: its length; kTerminate: the grace period
};

// Returns kInvalidArgument, one line, for an invalid injection.
Status CheckInjection(const Injection& injection);

// Decides which injections are due.
class ArmedInjections {
 public:
  explicit ArmedInjections(std::vector<Injection> injections);

  // Returns the index of the first injection that is due at the operation,
  // which has not happened yet. Neither Due nor Count is called for implied
  // operations.
  std::optional<size_t> Due(const FileOperation& operation) const;
  const Injection& injection(size_t index) const { return armed_[index].what; }
  // Records that the injection was done: unless it repeats, it is never due
  // again.
  void MarkDone(size_t index);
  // Records that the operation has happened.
  void Count(const FileOperation& operation);

 private:
  struct Armed {
    Injection what;
    uint64_t count = 0;  // of operations that matched
    bool is_done = false;
  };
  std::vector<Armed> armed_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_INJECTION_H_
