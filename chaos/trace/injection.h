// Faults put into a traced program at one of its operations on files.
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
  kKillAfter,   // the same, once the operation has happened
  kTornWrite,   // only the first bytes of a write reach the file, then the same
  kFail,        // the call fails with an errno and changes nothing
  kPause,       // SIGSTOP to the process, and SIGCONT after a time
  kTerminate,   // SIGTERM to the program, and SIGKILL to all after a grace
};

// Processes that a kill ends.
enum class KillScope : uint8_t {
  kAll,
  // The rank that does the operation: its processes freeze there, and get
  // SIGKILL once every other rank waits. So the death is the same each time.
  kRank,
};

// Operations that match are counted from 1, of all processes in their order.
// Counted are those that succeed, come by a call of their own (not `implied`)
// and are crash points; so the n-th operation of a recording is the n-th here,
// if the program does the same again.
struct OperationPattern {
  // Pattern of fnmatch(3) for the path below the watched directory, in which *
  // takes "/" too. A rename or link matches by either of its names.
  std::string path = "*";
  std::optional<OperationKind> kind;
  std::optional<int32_t> rank;
  uint64_t occurrence = 1;
};

// Returns true if kind, rank and path match; `occurrence` is not looked at.
bool Matches(const OperationPattern& pattern, const FileOperation& operation);

struct Injection {
  OperationPattern at;
  InjectionKind kind = InjectionKind::kKillBefore;
  // kTornWrite: so many bytes; at most a write's length. A write by O_DIRECT
  // gets whole blocks of 4096.
  uint64_t torn_bytes = 0;
  KillScope scope = KillScope::kAll;  // of the two kills and kTornWrite
  int error = 0;                      // kFail: an errno
  bool repeats = false;  // kFail: from the occurrence on, not only there
  Duration duration{};   // kPause: how long; kTerminate: the grace
};

// kInvalidArgument, in one line, for one that means nothing.
Status CheckInjection(const Injection& injection);

// Decides which injections are due.
class ArmedInjections {
 public:
  explicit ArmedInjections(std::vector<Injection> injections);

  // Index of the first injection that is due at an operation that is about to
  // happen. Neither this nor Count is asked about implied ones.
  std::optional<size_t> Due(const FileOperation& operation) const;
  const Injection& injection(size_t index) const { return armed_[index].what; }
  // It was done: unless it repeats, it is never due again.
  void MarkDone(size_t index);
  // The operation has happened.
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
