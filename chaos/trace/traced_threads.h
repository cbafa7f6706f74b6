// The threads of a traced program, and their processes.
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
  kRunning,  // or in a stop that is being handled
  kHeld,     // stopped before a call, until another thread's call has ended
  kWaitsForTurn,  // stopped before a call, until lower ranks wait
  kPaused,        // stopped before a call, until the end of a pause
  kInCall,        // in a recorded call; stops again at its end
};

struct TracedThread {
  pid_t id = 0;
  std::shared_ptr<TracedProcess> process;
  ThreadState state = ThreadState::kRunning;
  std::optional<FileCall> call;             // kInCall
  std::optional<ShortenedWrite> shortened;  // kInCall: of a torn write
  std::optional<size_t> kill_after;         // kInCall: index of the injection
  bool is_leaving = false;                  // at its PTRACE_EVENT_EXIT
  bool has_turn = false;  // its rank has the turn for the next call

  Caller caller() { return {.thread = id, .process = *process}; }
};

// A clone may create a thread or a process.
enum class NewThreadKind : uint8_t { kClone, kProcess };

class TracedThreads {
 public:
  // Returns nullptr if the thread is unknown.
  TracedThread* Find(pid_t thread);
  bool empty() const { return threads_.empty(); }

  TracedThread& AddProgram(pid_t process);
  // Adds a child of a known thread. It belongs to the parent's process, or to a
  // new one with the same mappings.
  TracedThread& AddChild(const TracedThread& parent, pid_t thread,
                         NewThreadKind kind);
  // Adds a thread whose parent ended before reporting it.
  TracedThread& AddOrphan(pid_t thread);
  // Handles exec: the calling thread, `former`, becomes the only thread of the
  // process and takes the process's number.
  TracedThread& Exec(pid_t process, pid_t former);
  void Remove(pid_t thread);

  // Returns true if all other threads of its process are leaving or gone.
  bool IsLastOfProcess(const TracedThread& thread) const;
  bool IsAnyInOrderedCall() const;
  std::set<pid_t> Processes() const;
  // Returns the threads of each rank, each with its process. Leaves out
  // processes without a rank and frozen ones.
  std::map<int32_t, std::map<pid_t, pid_t>> ThreadsByRank();

 private:
  std::map<pid_t, TracedThread> threads_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_TRACED_THREADS_H_
