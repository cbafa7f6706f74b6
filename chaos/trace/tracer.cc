#include "chaos/trace/tracer.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "chaos/trace/calls/file_calls.h"
#include "chaos/trace/calls/watched_files.h"
#include "chaos/trace/log/recorder.h"
#include "chaos/trace/process/process_files.h"
#include "chaos/trace/process/syscall_filter.h"
#include "chaos/trace/process/syscall_numbers.h"
#include "chaos/trace/process/wake_up.h"
#include "chaos/trace/ptrace_requests.h"
#include "chaos/trace/rank_turns.h"
#include "chaos/trace/traced_threads.h"
#include "engine/check.h"
#include <fmt/format.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

namespace gauntlet {
namespace {

// The signal that waitpid reports at the end of a call (TRACESYSGOOD).
constexpr int kCallStop = SIGTRAP | 0x80;

constexpr Duration kTimeBetweenLooks = std::chrono::milliseconds(5);
// Longest time for which a dying rank stays frozen while some other rank does
// not wait yet.
constexpr Duration kLongestFreeze = std::chrono::seconds(10);

int64_t MonotonicNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool StopsGroup(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
         signal == SIGTTOU;
}

class Tracer {
 public:
  Tracer(const TraceOptions& options, StartedProgram program,
         WatchedFiles& files, Recorder& recorder)
      : options_(options),
        program_(std::move(program)),
        recorder_(recorder),
        calls_(files, recorder, options.record_reads),
        injector_(options.injections) {
    threads_.AddProgram(program_.pid());
    if (options_.time_limit > Duration::zero())
      At(options_.time_limit, [this] { StopAtTimeLimit(); });
  }

  Result<TraceOutcome> Run() {
    while (true) {
      DoWhatIsDue();
      int status = 0;
      const pid_t thread = waitpid(-1, &status, __WALL | __WNOTHREAD);
      if (thread < 0 && errno == EINTR) continue;
      if (thread < 0) break;  // ECHILD: all processes have ended
      if (wake_up_.Consume(thread)) continue;
      if (WIFSTOPPED(status)) {
        ++outcome_.stops;
        OnStop(thread, status);
      } else {
        OnEnd(thread, status);
      }
      if (!recorder_.status().ok()) KillAll();
    }
    recorder_.CopyPending();
    RETURN_IF_ERROR(recorder_.status());
    if (!has_started_) RETURN_IF_ERROR(program_.FailureToStart());
    for (const int32_t rank : turns_.polling()) {
      recorder_.Note(fmt::format(
          "rank {} polls while it waits for others: the order of operations of "
          "the ranks may differ from run to run",
          rank));
    }
    outcome_.notes = recorder_.TakeNotes();
    return std::move(outcome_);
  }

 private:
  // Time.
  void At(Duration from_now, std::function<void()> action) {
    due_.emplace(MonotonicNow() + from_now.count(), std::move(action));
  }

  void DoWhatIsDue() {
    while (!due_.empty() && due_.begin()->first <= MonotonicNow()) {
      const auto action = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      action();
    }
    if (due_.empty() || (threads_.empty() && early_.empty())) {
      wake_up_.Clear();
    } else {
      wake_up_.Set(due_.begin()->first);
    }
  }

  void StopAtTimeLimit() {
    outcome_.is_timed_out = true;
    recorder_.Note("the program did not end within the time limit: killed");
    KillAll();
  }

  // Threads.
  void Continue(TracedThread& thread, int signal = 0) {
    if (thread.process->is_frozen) return;
    Request(thread.state == ThreadState::kInCall ? PTRACE_SYSCALL : PTRACE_CONT,
            thread.id, signal);
  }

  void OnStop(pid_t id, int status) {
    const int event = status >> 16;
    const int signal = WSTOPSIG(status);
    if (is_killing_) {
      // KillAll has sent SIGKILL, which ends stopped threads; a thread that is
      // new since then receives it here. A thread stopped at its exit must
      // still be continued.
      if (event == PTRACE_EVENT_EXIT) return Request(PTRACE_CONT, id);
      kill(id, SIGKILL);
      return;
    }
    TracedThread* const thread = threads_.Find(id);
    if (thread == nullptr) {
      // The parent's report, which identifies the thread, is still to come.
      early_[id] = status;
      return;
    }
    const bool ends = event == 0 || event == PTRACE_EVENT_EXIT;
    if (thread->process->is_frozen && !ends) return;
    switch (event) {
      case 0:
        if (signal != kCallStop) return Continue(*thread, signal);
        return thread->state == ThreadState::kInCall ? OnCallEnd(*thread)
                                                     : Continue(*thread);
      case PTRACE_EVENT_SECCOMP:
        return OnTrap(*thread);
      case PTRACE_EVENT_CLONE:
        return OnChild(*thread, NewThreadKind::kClone);
      case PTRACE_EVENT_FORK:
      case PTRACE_EVENT_VFORK:
        return OnChild(*thread, NewThreadKind::kProcess);
      case PTRACE_EVENT_EXEC:
        return OnExec(id);
      case PTRACE_EVENT_EXIT:
        return OnLeaving(*thread);
      case PTRACE_EVENT_STOP:
        // Leaves the thread in its group stop. A SIGCONT wakes it, as it would
        // without a tracer.
        if (StopsGroup(signal)) return Request(PTRACE_LISTEN, id);
        return Continue(*thread);
      default:
        return Continue(*thread);
    }
  }

  void OnChild(TracedThread& parent, NewThreadKind kind) {
    const auto id = static_cast<pid_t>(EventMessage(parent.id));
    const pid_t parent_id = parent.id;
    threads_.AddChild(parent, id, kind);
    const auto early = early_.find(id);
    if (early != early_.end()) {
      const int status = early->second;
      early_.erase(early);
      OnStop(id, status);
    }
    if (TracedThread* const again = threads_.Find(parent_id)) Continue(*again);
  }

  void OnExec(pid_t process) {
    const auto former = static_cast<pid_t>(EventMessage(process));
    TracedThread& thread = threads_.Exec(process, former);
    if (process == program_.pid()) has_started_ = true;
    // Ends the mappings of the old program; the new one has none yet.
    calls_.EndMappings(thread.caller());
    const std::string exe = fmt::format("/proc/{}/exe", process);
    if (IsSetUserId(exe)) {
      recorder_.Note(fmt::format(
          "{}: set-uid or set-gid: it ran without these rights under the "
          "tracer",
          ReadLinkText(exe)));
    }
    Continue(thread);
    ReleaseHeld();
  }

  void OnLeaving(TracedThread& thread) {
    thread.is_leaving = true;
    Unhold(thread.id);
    // A thread killed in its call, as by another thread's exec, skips the stop
    // at the call's end. The call's result is available here too; it is ENOSYS
    // if the call never began.
    if (thread.state == ThreadState::kInCall) FinishCall(thread);
    thread.state = ThreadState::kRunning;
    if (threads_.IsLastOfProcess(thread)) calls_.EndProcess(thread.caller());
    Request(PTRACE_CONT, thread.id);
    ReleaseHeld();
  }

  void OnEnd(pid_t id, int status) {
    TracedThread* const thread = threads_.Find(id);
    if (thread != nullptr && thread->state == ThreadState::kInCall &&
        !is_killing_) {
      recorder_.Note(fmt::format(
          "process {} was killed in the middle of: {}: how much of it happened "
          "is not known",
          thread->process->id, DescribeFileOperation(thread->call->operation)));
    }
    Unhold(id);
    threads_.Remove(id);
    early_.erase(id);
    if (id == program_.pid()) OnProgramEnd(status);
    AdoptOrphans();
    ReleaseHeld();
  }

  void OnProgramEnd(int status) {
    if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
    if (is_killing_ || (threads_.empty() && early_.empty())) return;
    At(options_.background_grace, [this] { EndBackground(); });
  }

  void EndBackground() {
    if (threads_.empty() || is_killing_) return;
    outcome_.background_processes =
        static_cast<int>(threads_.Processes().size());
    recorder_.Note(fmt::format(
        "the program ended and left {} in the background: killed; trace a "
        "command that waits for its processes",
        outcome_.background_processes == 1
            ? "a process"
            : fmt::format("{} processes", outcome_.background_processes)));
    KillAll();
  }

  // Adopts threads whose parents were killed before they could report them.
  void AdoptOrphans() {
    const std::map<pid_t, int> early = std::exchange(early_, {});
    for (const auto& [id, status] : early) {
      threads_.AddOrphan(id);
      OnStop(id, status);
    }
  }

  // Sends SIGKILL to each process, even in other sessions; threads stopped
  // before a call never execute it.
  void KillAll() {
    if (is_killing_) return;
    is_killing_ = true;
    held_.clear();
    waiting_.clear();
    for (const pid_t process : threads_.Processes()) kill(process, SIGKILL);
    for (const auto& [id, status] : early_) kill(id, SIGKILL);
  }

  // Calls.
  void OnTrap(TracedThread& thread) {
    const auto registers = RegistersOf(thread.id);
    if (!registers) return;
    const SystemCall call = SystemCallOf(*registers);
    switch (static_cast<TrapReason>(EventMessage(thread.id))) {
      case TrapReason::kAsynchronousIo:
        recorder_.Note(fmt::format(
            "{} was refused (ENOSYS): its writes cannot be traced; the program "
            "has to fall back to plain calls",
            call.number == SYS_io_setup ? "io_setup" : "io_uring_setup"));
        return Refuse(thread);
      case TrapReason::kForeignConvention:
        recorder_.Note(
            "32-bit or x32 system calls were refused (ENOSYS): expected an "
            "x86-64 program");
        return Refuse(thread);
      case TrapReason::kPtrace:
        recorder_.Note(
            "the program calls ptrace, as debuggers and LeakSanitizer do: it "
            "fails in a traced program (for the latter: "
            "ASAN_OPTIONS=detect_leaks=0)");
        return Continue(thread);
      case TrapReason::kClone:
        return OnClone(thread, call);
      case TrapReason::kNotRecorded:
        calls_.NoteNotRecorded(thread.caller(), call);
        return Continue(thread);
      case TrapReason::kUnmap:
        if (thread.process->mapped.empty()) return Continue(thread);
        return OnFileCall(thread, call);
      case TrapReason::kFileCall:
        if (calls_.IsElsewhere(thread.caller(), call)) return Continue(thread);
        return OnFileCall(thread, call);
    }
  }

  void OnFileCall(TracedThread& thread, const SystemCall& call) {
    // Holds the thread until the ordered call ends. That is soon, as an ordered
    // call never waits for another thread.
    if (threads_.IsAnyInOrderedCall()) {
      thread.state = ThreadState::kHeld;
      held_.push_back(thread.id);
      return;
    }
    thread.call = call.number == SYS_munmap || call.number == SYS_msync
                      ? calls_.BeginUnmap(thread.caller(), call)
                      : calls_.Begin(thread.caller(), call);
    if (!thread.call) return Continue(thread);
    if (MustWaitForTurn(thread)) return WaitForTurn(thread);
    StartCall(thread);
  }

  void OnClone(TracedThread& thread, const SystemCall& call) {
    // The first member of clone_args holds the flags.
    const uint64_t flags =
        call.number == SYS_clone3
            ? ReadObject<uint64_t>(thread.id, call.arguments[0]).value_or(0)
            : call.arguments[0];
    if ((flags & CLONE_UNTRACED) == 0) return Continue(thread);
    recorder_.Note(
        "clone with CLONE_UNTRACED was refused (ENOSYS): what the new process "
        "does cannot be traced");
    Refuse(thread);
  }

  void Refuse(TracedThread& thread) {
    ReturnError(thread.id, ENOSYS);
    Continue(thread);
  }

  void StartCall(TracedThread& thread) {
    FileOperation& operation = thread.call->operation;
    operation.call = recorder_.NextCall();
    operation.begin = recorder_.NextTimestamp();
    thread.has_turn = false;
    if (options_.ranks_take_turns && operation.rank != kUnknownRank)
      turns_.OnOperation(operation.rank, MonotonicNow());
    thread.state = ThreadState::kInCall;
    if (thread.call->is_possible && !thread.call->is_elsewhere) {
      if (const auto due = injector_.Due(operation))
        return Inject(thread, *due);
    }
    Continue(thread);
  }

  // Adds what the call did to the log, and returns true if it succeeded.
  // nullopt: the thread was killed at this moment; its state stays kInCall, and
  // it stops again at its exit.
  std::optional<bool> FinishCall(TracedThread& thread) {
    const auto registers = RegistersOf(thread.id);
    if (!registers) return std::nullopt;
    FileCall call = std::move(*thread.call);
    thread.call.reset();
    thread.state = ThreadState::kRunning;
    const auto result = static_cast<int64_t>(registers->rax);
    const uint64_t operations = recorder_.own_operations();
    calls_.End(thread.caller(), call, result);
    if (recorder_.own_operations() > operations)
      injector_.Count(call.operation);
    if (result >= 0 && thread.kill_after)
      NoteInjected(*thread.kill_after, call.operation);
    return result >= 0;
  }

  void OnCallEnd(TracedThread& thread) {
    const auto has_happened = FinishCall(thread);
    if (!has_happened) return;
    const auto kill_after = std::exchange(thread.kill_after, std::nullopt);
    const auto shortened = std::exchange(thread.shortened, std::nullopt);
    if (kill_after && *has_happened) return Kill(thread, *kill_after);
    // The torn write did not happen: the call failed, or a signal interrupted
    // it and it will restart.
    if (shortened) shortened->Undo(thread.id);
    Continue(thread);
    ReleaseHeld();
  }

  void Unhold(pid_t id) {
    std::erase(held_, id);
    std::erase_if(waiting_, [&](const Waiting& one) { return one.id == id; });
  }

  // Lets held threads continue, in order of arrival, until one is in an ordered
  // call.
  void ReleaseHeld() {
    while (!is_killing_ && !held_.empty() && !threads_.IsAnyInOrderedCall()) {
      TracedThread* const thread = threads_.Find(held_.front());
      held_.pop_front();
      if (thread == nullptr || thread->process->is_frozen) continue;
      thread->state = ThreadState::kRunning;
      OnTrap(*thread);
    }
  }

  // Turns of ranks.
  bool MustWaitForTurn(const TracedThread& thread) {
    const FileCall& call = *thread.call;
    const bool changes_files = call.is_possible && !call.is_elsewhere &&
                               IsCrashPoint(call.operation.kind);
    const bool may_be_early = options_.ranks_take_turns && changes_files &&
                              call.operation.rank > 0 && !thread.has_turn;
    if (!may_be_early) return false;
    const int64_t now = MonotonicNow();
    turns_.Look(threads_, now);
    return !turns_.HasTurn(call.operation.rank, now);
  }

  void WaitForTurn(TracedThread& thread) {
    waiting_.push_back({.rank = thread.call->operation.rank,
                        .since = MonotonicNow(),
                        .id = thread.id});
    thread.call.reset();
    thread.state = ThreadState::kWaitsForTurn;
    LookLater();
  }

  void LookLater() {
    if (std::exchange(look_is_due_, true)) return;
    At(kTimeBetweenLooks, [this] {
      look_is_due_ = false;
      if (!is_killing_) LookAtRanks();
    });
  }

  void LookAtRanks() {
    turns_.Look(threads_, MonotonicNow());
    GiveTurn();
    if (dying_) KillDyingRank();
    if (!waiting_.empty() || dying_) LookLater();
  }

  // Gives the turn to the first waiting thread of the lowest rank.
  void GiveTurn() {
    const auto first = std::ranges::min_element(waiting_, {}, &Waiting::rank);
    if (first == waiting_.end() || !turns_.HasTurn(first->rank, first->since))
      return;
    TracedThread* const thread = threads_.Find(first->id);
    waiting_.erase(first);
    if (thread == nullptr || thread->process->is_frozen) return;
    thread->has_turn = true;
    thread->state = ThreadState::kRunning;
    OnTrap(*thread);
  }

  // Injections.
  void NoteInjected(size_t index, const FileOperation& operation) {
    outcome_.injected.push_back({.injection = index, .operation = operation});
    injector_.MarkDone(index);
  }

  void Inject(TracedThread& thread, size_t index) {
    const Injection& injection = injector_.injection(index);
    switch (injection.kind) {
      case InjectionKind::kKillBefore:
        return KillBefore(thread, index);
      case InjectionKind::kKillAfter:
        thread.kill_after = index;
        return Continue(thread);
      case InjectionKind::kTornWrite:
        return Tear(thread, index);
      case InjectionKind::kFail:
        NoteInjected(index, thread.call->operation);
        ReturnError(thread.id, injection.error);
        thread.call.reset();
        thread.state = ThreadState::kRunning;
        Continue(thread);
        return ReleaseHeld();
      case InjectionKind::kPause:
        return Pause(thread, index);
      case InjectionKind::kTerminate:
        NoteInjected(index, thread.call->operation);
        kill(program_.pid(), SIGTERM);
        At(injection.duration, [this] {
          if (!is_killing_) outcome_.is_killed = true;
          KillAll();
        });
        return Continue(thread);
    }
  }

  void KillBefore(TracedThread& thread, size_t index) {
    NoteInjected(index, thread.call->operation);
    thread.call.reset();
    thread.state = ThreadState::kPaused;
    Kill(thread, index);
  }

  void Kill(TracedThread& thread, size_t index) {
    if (injector_.injection(index).scope == KillScope::kRank)
      return FreezeRank(thread);
    outcome_.is_killed = true;
    KillAll();
  }

  // Stops the processes of the thread's rank until KillDyingRank. The thread
  // itself is stopped already.
  void FreezeRank(TracedThread& thread) {
    const int32_t rank = RankOf(*thread.process);
    dying_ = DyingRank{.rank = rank, .since = MonotonicNow()};
    const auto ranks = threads_.ThreadsByRank();
    const auto own = ranks.find(rank);
    dying_->processes.insert(thread.process->id);
    thread.process->is_frozen = true;
    if (own != ranks.end()) {
      for (const auto& [id, process] : own->second) {
        threads_.Find(id)->process->is_frozen = true;
        dying_->processes.insert(process);
        Request(PTRACE_INTERRUPT, id);
      }
    }
    LookLater();
    ReleaseHeld();
  }

  void KillDyingRank() {
    const int64_t now = MonotonicNow();
    const bool others_go_on =
        !waiting_.empty() || !turns_.DoOthersWait(dying_->rank, dying_->since);
    if (others_go_on && now - dying_->since < kLongestFreeze.count()) return;
    for (const pid_t process : dying_->processes) kill(process, SIGKILL);
    dying_.reset();
  }

  void Tear(TracedThread& thread, size_t index) {
    const uint64_t length = injector_.injection(index).torn_bytes;
    thread.shortened =
        thread.call->operation.kind == OperationKind::kWrite
            ? ShortenedWrite::Apply(thread.id, *thread.call, length)
            : std::nullopt;
    if (!thread.shortened) return KillBefore(thread, index);
    thread.kill_after = index;
    Continue(thread);
  }

  void Pause(TracedThread& thread, size_t index) {
    NoteInjected(index, thread.call->operation);
    const Duration duration = injector_.injection(index).duration;
    const pid_t id = thread.id;
    const pid_t process = thread.process->id;
    thread.call.reset();
    thread.state = ThreadState::kPaused;
    kill(process, SIGSTOP);
    At(duration, [this, id, process] {
      if (is_killing_) return;
      kill(process, SIGCONT);
      TracedThread* const paused = threads_.Find(id);
      if (paused == nullptr || paused->state != ThreadState::kPaused) return;
      paused->state = ThreadState::kRunning;
      OnTrap(*paused);
    });
    ReleaseHeld();
  }

  const TraceOptions& options_;
  const StartedProgram program_;
  Recorder& recorder_;
  FileCalls calls_;
  ArmedInjections injector_;
  TracedThreads threads_;
  // Stops of threads whose parents have not reported them yet.
  std::map<pid_t, int> early_;
  std::deque<pid_t> held_;                             // in order of arrival
  std::multimap<int64_t, std::function<void()>> due_;  // by MonotonicNow
  WakeUp wake_up_;
  RankTurns turns_;
  struct Waiting {
    int32_t rank = 0;
    int64_t since = 0;
    pid_t id = 0;  // of the thread
  };
  std::vector<Waiting> waiting_;  // for their rank's turn
  bool look_is_due_ = false;
  struct DyingRank {
    int32_t rank = kUnknownRank;
    int64_t since = 0;
    std::set<pid_t> processes;
  };
  std::optional<DyingRank> dying_;
  TraceOutcome outcome_;
  bool has_started_ = false;
  bool is_killing_ = false;
};

}  // namespace

Result<TraceOutcome> Trace(const TracedCommand& command,
                           const TraceOptions& options) {
  for (const Injection& injection : options.injections)
    RETURN_IF_ERROR(CheckInjection(injection));
  CHECK(options.log == nullptr ||
            options.log->list().directories == options.directories,
        "a log is of the watched directories");
  Recorder recorder(options.log);
  ASSIGN_OR_RETURN(
      WatchedFiles files,
      WatchedFiles::Watch(options.directories,
                          [&recorder](const FileIdentity& identity) {
                            return recorder.AddFile(identity);
                          }));
  FileCalls(files, recorder, false).EnterExisting(options.directories);
  RETURN_IF_ERROR(recorder.status());
  ASSIGN_OR_RETURN(
      StartedProgram program,
      StartedProgram::Start(command, {.reads = options.record_reads,
                                      .closes = recorder.keeps_operations()}));
  std::optional<KeyboardSignalsIgnored> ignored;
  if (options.keyboard == KeyboardSignals::kIgnored) ignored.emplace();
  Tracer tracer(options, std::move(program), files, recorder);
  return tracer.Run();
}

}  // namespace gauntlet
