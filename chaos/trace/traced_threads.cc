#include "chaos/trace/traced_threads.h"

#include <algorithm>
#include <utility>

#include "chaos/trace/process/process_files.h"

namespace gauntlet {

TracedThread* TracedThreads::Find(pid_t thread) {
  const auto found = threads_.find(thread);
  return found == threads_.end() ? nullptr : &found->second;
}

TracedThread& TracedThreads::AddProgram(pid_t process) {
  TracedThread& thread = threads_[process];
  thread.id = process;
  thread.process = std::make_shared<TracedProcess>();
  thread.process->id = process;
  return thread;
}

TracedThread& TracedThreads::AddChild(const TracedThread& parent, pid_t thread,
                                      NewThreadKind kind) {
  const std::shared_ptr<TracedProcess> old_process = parent.process;
  // A clone may be a thread of a process; any other child is a process itself.
  const pid_t process =
      kind == NewThreadKind::kClone ? ProcessOfThread(thread) : thread;
  TracedThread& child = threads_[thread];
  child.id = thread;
  if (child.process != nullptr) {
    // The child was adopted as an orphan before and already runs.
    if (child.process != old_process) {
      child.process->mapped.insert(old_process->mapped.begin(),
                                   old_process->mapped.end());
    }
    return child;
  }
  if (process == old_process->id) {
    child.process = old_process;
    return child;
  }
  child.process = std::make_shared<TracedProcess>();
  child.process->id = process;
  child.process->mapped = old_process->mapped;
  return child;
}

TracedThread& TracedThreads::AddOrphan(pid_t thread) {
  const pid_t process = ProcessOfThread(thread);
  for (const auto& [id, other] : threads_) {
    if (other.process->id != process) continue;
    const std::shared_ptr<TracedProcess> shared = other.process;
    TracedThread& added = threads_[thread];
    added.id = thread;
    added.process = shared;
    return added;
  }
  TracedThread& added = AddProgram(thread);
  added.process->id = process;
  return added;
}

TracedThread& TracedThreads::Exec(pid_t process, pid_t former) {
  const auto caller = threads_.find(former);
  TracedThread survivor;
  if (caller != threads_.end()) survivor = std::move(caller->second);
  std::erase_if(threads_, [&](const auto& entry) {
    const TracedThread& thread = entry.second;
    return entry.first == former || entry.first == process ||
           (thread.process != nullptr && thread.process->id == process);
  });
  if (survivor.process == nullptr) {
    survivor.process = std::make_shared<TracedProcess>();
    survivor.process->id = process;
  }
  survivor.id = process;
  survivor.state = ThreadState::kRunning;
  survivor.call.reset();
  survivor.process->rank.reset();
  return threads_[process] = std::move(survivor);
}

void TracedThreads::Remove(pid_t thread) { threads_.erase(thread); }

bool TracedThreads::IsLastOfProcess(const TracedThread& thread) const {
  return std::none_of(threads_.begin(), threads_.end(), [&](const auto& entry) {
    const TracedThread& other = entry.second;
    return other.id != thread.id && other.process == thread.process &&
           !other.is_leaving;
  });
}

bool TracedThreads::IsAnyInOrderedCall() const {
  return std::any_of(threads_.begin(), threads_.end(), [](const auto& entry) {
    const TracedThread& thread = entry.second;
    return thread.state == ThreadState::kInCall && thread.call->is_ordered;
  });
}

std::map<int32_t, std::map<pid_t, pid_t>> TracedThreads::ThreadsByRank() {
  std::map<int32_t, std::map<pid_t, pid_t>> threads;
  for (const auto& [id, thread] : threads_) {
    TracedProcess& process = *thread.process;
    const int32_t rank = RankOf(process);
    if (rank != kUnknownRank && !process.is_frozen)
      threads[rank].emplace(id, process.id);
  }
  return threads;
}

std::set<pid_t> TracedThreads::Processes() const {
  std::set<pid_t> processes;
  for (const auto& [id, thread] : threads_)
    processes.insert(thread.process->id);
  return processes;
}

}  // namespace gauntlet
