// The threads of a traced program, and the processes that they belong to.
#ifndef GAUNTLET_CHAOS_TRACE_TRACED_THREADS_H_
#define GAUNTLET_CHAOS_TRACE_TRACED_THREADS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "chaos/trace/calls/file_calls.h"
#include "chaos/trace/calls/shortened_write.h"
#include <sys/types.h>

namespace gauntlet {

enum class ThreadState : uint8_t {
  kRunning,  // or in a stop that is handled now
  kHeld,     // stopped before a call, until another thread's call has ended
  kWaitsForTurn,  // likewise, until lower ranks wait
  kPaused,        // stopped before a call, until the end of a pause
  kInCall,        // in a recorded call; its end stops again
};

struct TracedThread {
  pid_t id = 0;
  std::shared_ptr<TracedProcess> process;
  ThreadState state = ThreadState::kRunning;
  std::optional<FileCall> call;             // kInCall
  std::optional<ShortenedWrite> shortened;  // kInCall: of a torn write
  std::optional<size_t> kill_after;         // kInCall: of that injection
  bool is_leaving = false;                  // at its PTRACE_EVENT_EXIT
  bool has_turn = false;  // its rank's, for the call that comes

  Caller caller() { return {.thread = id, .process = *process}; }
};

// A clone may be either.
enum class NewThreadKind : uint8_t { kClone, kProcess };

class TracedThreads {
 public:
  // nullptr: not known.
  TracedThread* Find(pid_t thread);
  bool empty() const { return threads_.empty(); }

  TracedThread& AddProgram(pid_t process);
  // A child of a known thread. The new thread belongs to its process, or to a
  // new one that has its mappings.
  TracedThread& AddChild(const TracedThread& parent, pid_t thread,
                         NewThreadKind kind);
  // A thread whose parent has ended before it could be told.
  TracedThread& AddOrphan(pid_t thread);
  // exec: the calling thread, which was `former`, is the process' only one and
  // has its number.
  TracedThread& Exec(pid_t process, pid_t former);
  void Remove(pid_t thread);

  // True if no other thread of its process is left that is not leaving.
  bool IsLastOfProcess(const TracedThread& thread) const;
  bool IsAnyInOrderedCall() const;
  std::set<pid_t> Processes() const;
  // By rank, where there is one: threads, and the process of each. Frozen
  // processes are left out.
  std::map<int32_t, std::map<pid_t, pid_t>> ThreadsByRank();

 private:
  std::map<pid_t, TracedThread> threads_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_TRACED_THREADS_H_
