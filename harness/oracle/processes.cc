#include "harness/oracle/processes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/worker_exit_code.h"
#include "harness/oracle/fault_traits.h"
#include "harness/oracle/last_words.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();

// An exchange goes round the ring twice, in a few frames for each rank: so many
// may be late one behind another.
constexpr int64_t kFramesInARow = 64;
// How much of a limit the work itself may take, where nothing is in its way.
constexpr int64_t kShareOfWork = 4;
bool MatchesLateness(const Hindrance& one, int64_t limit_ns) {
  return one.kind != Hindrance::Kind::kLateFrames ||
         one.late_ns >= limit_ns / kFramesInARow;
}

// Whether the process is gone, at the latest that much later.
std::optional<int64_t> KillsAfter(const RecordFault& fault) {
  if (fault.kind == "kill") return fault.latency_ns;
  if (fault.kind == "preempt") return fault.grace_ns;
  if (fault.kind == "crash" || fault.kind == "exception" ||
      (fault.kind == "torn_write" && fault.then == "crash")) {
    return 0;
  }
  return std::nullopt;
}

bool IsLostWorker(const RecordEvent& event) {
  return event.kind == RecordKind::kLifeEnd &&
         IsExit(event.count, {WorkerExit::kLostWorker});
}

bool IsOfReason(RecordReason reason,
                std::initializer_list<RecordReason> reasons) {
  return std::ranges::find(reasons, reason) != reasons.end();
}

}  // namespace

Processes::Processes(const Record& record, Checks& checks)
    : record_(record),
      checks_(checks),
      all_known_(
          !record.launchers.empty() &&
          std::ranges::none_of(record.launchers, [](const LauncherRun& run) {
            return run.events.empty();
          })) {}

void Processes::On(const HistoryEvent& said) {
  const RecordEvent& event = *said.event;
  CheckProgress(said);
  switch (said.by.kind) {
    case Emitter::Kind::kMachine:
      return OnMachine(event);
    case Emitter::Kind::kLauncher:
      return OnLauncher(said.by, event);
    case Emitter::Kind::kWorker:
      if (Process* const process = Find(said.by)) {
        CheckAlive(*process, event);
        return OnWorker(*process, event);
      }
      Process& process = processes_[said.by];
      process.id = said.by;
      process.started_ns = event.t_ns;
      if (!all_known_) return OnWorker(process, event);
      checks_.no_spontaneous_exit.Breach(
          "not-started",
          fmt::format("{} says {}, and no launcher had started it",
                      NameOf(said.by), RecordKindName(event.kind)));
      return;
  }
}

// Where nothing stands in the way, something happens before the longest limit
// that anybody waits for is over.
void Processes::CheckProgress(const HistoryEvent& said) {
  const RunSetup& setup = record_.setup;
  const int64_t now_ns = said.event->t_ns;
  const int64_t before_ns = std::exchange(last_ns_, std::max(last_ns_, now_ns));
  const int64_t bound =
      std::max({setup.detection_bound_ns, setup.detection_bound_saving_ns,
                setup.detection_bound_joining_ns}) +
      setup.restart_pause_ns;
  const bool is_known = setup.detection_bound_joining_ns > 0 && before_ns > 0;
  if (!is_known || now_ns - before_ns <= bound) return;
  // What stands is noticed, and put right, within it.
  const int64_t idle = hindrances_.Undisturbed(
      before_ns, now_ns,
      [&](const Hindrance& one) {
        return one.kind != Hindrance::Kind::kAbsent &&
               MatchesLateness(one, bound);
      },
      bound);
  if (idle <= bound) return;
  checks_.no_hang.Instance();
  checks_.no_hang.Breach(
      "standstill",
      fmt::format("nothing happened for {:.3f} s before {} ({}), expected at "
                  "most {:.3f} s",
                  Seconds(idle), RecordKindName(said.event->kind),
                  NameOf(said.by), Seconds(bound)));
}

void Processes::CheckAlive(const Process& process, const RecordEvent& event) {
  if (!process.ended_ns || event.t_ns <= *process.ended_ns + kStampSlackNs) {
    return;
  }
  checks_.no_spontaneous_exit.Breach(
      "after-end", fmt::format("{} says {} after its end", NameOf(process.id),
                               RecordKindName(event.kind)));
}

Processes::Process* Processes::Find(const Emitter& id) {
  const auto found = processes_.find(id);
  return found == processes_.end() ? nullptr : &found->second;
}

Processes::Process* Processes::FindAbout(const RecordEvent& event) {
  if (!event.about || *event.about < 0) return nullptr;
  return Find({.kind = Emitter::Kind::kWorker,
               .worker = *event.about,
               .incarnation = event.incarnation});
}

void Processes::OnMachine(const RecordEvent& event) {
  Process* const process = FindAbout(event);
  if (event.kind == RecordKind::kFrameLate) {
    if (process == nullptr) return;
    hindrances_.FrameLate(process->id, event.t_ns, event.limit_ns);
  } else if (event.kind == RecordKind::kProcessEnded) {
    if (process != nullptr) End(*process, event);
    if (event.about == kLauncherWorker) {
      launcher_ended_ns_[launcher_.incarnation] = event.t_ns;
      if (event.reason == RecordReason::kSignal) {
        launcher_killed_ns_[launcher_.incarnation] = event.t_ns;
      }
    }
  } else if (event.kind == RecordKind::kPowerCut) {
    if (process == nullptr) {
      power_cut_ns_ = event.t_ns;
    } else {
      process->cut_off = true;
      hindrances_.Add({.kind = Hindrance::Kind::kProcess,
                       .of = process->id,
                       .from_ns = event.t_ns,
                       .until_ns = kForEver});
    }
  }
}

void Processes::OnLauncher(const Emitter& by, const RecordEvent& event) {
  Process* const process = FindAbout(event);
  switch (event.kind) {
    case RecordKind::kLauncherBegin:
      launcher_ = {.incarnation = by.incarnation,
                   .finds_orphans = std::ranges::any_of(
                       processes_, [this](const auto& entry) {
                         return IsOrphan(entry.second);
                       })};
      starts_later_.reset();
      break;
    case RecordKind::kLauncherEnd:
      CheckTakesUp(event);
      break;
    case RecordKind::kStarted:
      Begin(event);
      break;
    case RecordKind::kKillSent:
      if (process != nullptr) process->kill_sent = true;
      break;
    case RecordKind::kRestarting:
      CheckRestart();
      break;
    case RecordKind::kExited:
      if (IsExit(event.count, {WorkerExit::kStartLater})) {
        starts_later_ = event.about;
      }
      if (process == nullptr || event.reason == RecordReason::kNotStarted) {
        break;
      }
      if (event.reason == RecordReason::kUnreachable) {
        process->unreachable = true;
      } else if (!process->ended_ns) {
        End(*process, event);
      }
      break;
    case RecordKind::kWorkerLost:
      CheckChiefSilent(event);
      break;
    default:
      break;
  }
}

// Where a worker has said that a later start may help, and not one now.
void Processes::CheckRestart() {
  if (!starts_later_ || record_.setup.rejoins) return;
  checks_.no_spontaneous_exit.Breach(
      "restarted", fmt::format("worker {} left as a restart does not help now, "
                               "and its launcher made another attempt",
                               *starts_later_));
}

void Processes::Begin(const RecordEvent& event) {
  if (!event.about) return;
  const Emitter id = {.kind = Emitter::Kind::kWorker,
                      .worker = *event.about,
                      .incarnation = event.incarnation};
  launcher_.starts_workers = true;
  processes_[id] = {.id = id,
                    .launcher = launcher_.incarnation,
                    .rank = static_cast<int>(event.count),
                    .started_ns = event.t_ns,
                    .meeting_since_ns = event.t_ns};
  checks_.no_spontaneous_exit.Instance();
}

// Whether it runs, and its launcher was killed.
bool Processes::IsOrphan(const Process& process) const {
  return !process.ended_ns && !process.unreachable &&
         launcher_killed_ns_.contains(process.launcher);
}

// Whose launcher was killed, or its host given up, is to end soon.
void Processes::CheckOrphan(const Process& process, int64_t t_ns) {
  const int64_t bound = record_.setup.orphans_end_ns;
  if (!IsOrphan(process) || bound <= 0) return;
  checks_.no_orphans.Instance();
  const int64_t took = t_ns - launcher_killed_ns_.at(process.launcher);
  if (took <= bound) return;
  checks_.no_orphans.Breach(
      "outlives-launcher",
      fmt::format("{} went on for {:.3f} s after its launcher was killed, "
                  "expected at most {:.3f} s",
                  NameOf(process.id), Seconds(took), Seconds(bound)));
}

// A launcher waits for the workers of one that was killed before it.
void Processes::CheckTakesUp(const RecordEvent& event) {
  if (!launcher_.finds_orphans) return;
  checks_.restarts.Instance();
  if (launcher_.starts_workers ||
      !IsExit(event.count, {WorkerExit::kLostWorker})) {
    return;
  }
  checks_.restarts.Breach(
      "not-taken-up",
      fmt::format("launcher {} started no worker, as workers of a launcher "
                  "that was killed had not ended yet",
                  launcher_.incarnation));
}

void Processes::End() {
  if (record_.ending != RunEnding::kExited || record_.machine.empty()) return;
  for (const auto& [id, process] : processes_) CheckOrphan(process, last_ns_);
}

void Processes::End(Process& process, const RecordEvent& event) {
  CheckOrphan(process, event.t_ns);
  process.ended_ns = event.t_ns;
  CheckEnd(process, event);
  Discharge(process, event.t_ns);
  const bool unheard =
      hindrances_.Any(event.t_ns, event.t_ns, [&](const Hindrance& one) {
        return one.kind == Hindrance::Kind::kLinks && one.of == process.id;
      });
  hindrances_.Ended(process.id, event.t_ns);
  // Those that are connected to it wait on, as long as they do for anybody.
  if (unheard) {
    hindrances_.Add(
        {.kind = Hindrance::Kind::kLinks,
         .of = process.id,
         .from_ns = event.t_ns,
         .until_ns = event.t_ns + record_.setup.detection_bound_joining_ns});
  }
  const bool silent = power_cut_ns_ && *power_cut_ns_ >= process.started_ns;
  hindrances_.Add({.kind = Hindrance::Kind::kAbsent,
                   .of = process.id,
                   .from_ns = event.t_ns,
                   .until_ns = kForEver});
  if (process.cut_off) {
    hindrances_.Add({.kind = Hindrance::Kind::kProcess,
                     .of = process.id,
                     .from_ns = event.t_ns,
                     .until_ns = kForEver});
  }
  const bool done =
      process.left != nullptr && IsOrderlyExit(process.left->count);
  if (!done && !silent) Owe(process, event.t_ns, kForEver);
}

// Whether something that is recorded takes the process away at that time.
bool Processes::IsKilled(const Process& process, int64_t t_ns) const {
  if (process.kill_sent || process.unreachable || process.cut_off) return true;
  const auto in_its_time = [&](const std::optional<int64_t>& when) {
    return when && *when >= process.started_ns && *when <= t_ns;
  };
  const auto launcher = launcher_ended_ns_.find(process.launcher);
  if (in_its_time(power_cut_ns_) || launcher != launcher_ended_ns_.end()) {
    return true;
  }
  return std::ranges::any_of(process.fired, [&](const Fired& fired) {
    const auto after = KillsAfter(*fired.fault);
    return after && t_ns + kStampSlackNs >= fired.t_ns + *after;
  });
}

void Processes::CheckEnd(const Process& process, const RecordEvent& event) {
  // What the harness cut off ended by the harness's hand.
  if (record_.ending != RunEnding::kExited) return;
  const bool by_signal = event.reason == RecordReason::kSignal;
  if (process.left != nullptr && !by_signal) {
    if (process.left->count == event.count) return;
    return checks_.no_spontaneous_exit.Breach(
        "exit-code",
        fmt::format("{} said that it ends with {}, and ended with {}",
                    NameOf(process.id), process.left->count, event.count));
  }
  if (IsKilled(process, event.t_ns)) return;
  checks_.no_spontaneous_exit.Breach(
      "unexplained-death",
      fmt::format("{} ended ({} {}) without a word, and nothing that is "
                  "recorded explains it{}",
                  NameOf(process.id), by_signal ? "signal" : "exit code",
                  by_signal ? event.count - 128 : event.count,
                  ByTheKernel(record_)));
}

void Processes::OnWorker(Process& process, const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kLifeBegin:
      if (all_known_ && process.rank != event.count) {
        checks_.no_spontaneous_exit.Breach(
            "rank", fmt::format("{} says that it is rank {}, its launcher "
                                "started rank {}",
                                NameOf(process.id), event.count, process.rank));
      }
      process.rank = static_cast<int>(event.count);
      hindrances_.Present(process.id.worker, event.t_ns);
      break;
    case RecordKind::kGeneration:
      process.generation = event.generation;
      break;
    case RecordKind::kInitialized:
    case RecordKind::kResumed:
    case RecordKind::kCarriedOn:
      Join(process, event);
      break;
    case RecordKind::kStep:
      process.last_step_ns = event.t_ns;
      break;
    case RecordKind::kSaveBegin:
      process.in_save = true;
      NoteSaving(process);
      break;
    case RecordKind::kSaveAcknowledged:
      acknowledged_ns_[process.generation] = event.t_ns;
      [[fallthrough]];
    case RecordKind::kSaveFailed:
      process.in_save = false;
      break;
    case RecordKind::kFinished:
      process.finished = true;
      NoteSaving(process);
      EndSilence(process, event.t_ns);
      break;
    case RecordKind::kStopAgreed:
      process.stops = true;
      EndSilence(process, event.t_ns);
      break;
    case RecordKind::kFencedOut:
      process.superseded = true;
      if (!process.leaving_ns) process.leaving_ns = event.t_ns;
      break;
    case RecordKind::kFaultFired:
    case RecordKind::kFaultAgain:
      Fire(process, event);
      break;
    case RecordKind::kFrameLate:
      hindrances_.FrameLate(process.id, event.t_ns, event.limit_ns);
      break;
    case RecordKind::kWorkerLost:
      CheckWait(process, event);
      process.has_cause_to_leave = true;
      if (process.has_state && !process.lost_ns) process.lost_ns = event.t_ns;
      Leave(process, event);
      break;
    case RecordKind::kLoadFailed:
      process.has_cause_to_leave = true;
      break;
    case RecordKind::kLeaving:
      if (!process.has_state) process.refused_ns = event.t_ns;
      Leave(process, event);
      break;
    case RecordKind::kDeleteBegin:
      store_deleted_ = true;
      break;
    case RecordKind::kLeft:
      CheckLeaving(process, event);
      CheckLeavesSoon(process, event);
      Leave(process, event);
      process.meeting_since_ns = event.t_ns;
      process.generation = 0;
      process.has_state = false;
      break;
    case RecordKind::kLifeEnd:
      process.left = &event;
      CheckLeaving(process, event);
      CheckLeavesSoon(process, event);
      Leave(process, event);
      break;
    default:
      break;
  }
}

void Processes::Join(Process& process, const RecordEvent& event) {
  process.generation = event.generation;
  process.has_state = true;
  process.in_save = process.stops = false;
  process.lost_ns.reset();
  // It may have lost a rank of it already.
  if (process.leaves_generation != event.generation) {
    process.leaving_ns.reset();
    process.has_cause_to_leave = false;
    hindrances_.Present(process.id.worker, event.t_ns);
  }
}

void Processes::Fire(Process& process, const RecordEvent& event) {
  const RecordFault* const fault = FindFault(record_, event.detail);
  if (fault == nullptr) return;
  process.fired.push_back({.fault = fault, .t_ns = event.t_ns});
  hindrances_.Fired(*fault, process.id, event.t_ns);
  // Of real processes nobody says when they end, if not their launcher.
  if (TraitsOf(*fault).kills_launcher && record_.machine.empty()) {
    launcher_ended_ns_.try_emplace(process.launcher, event.t_ns);
  }
  if (TraitsOf(*fault).tells_error && fault->point == "ctl.heartbeat") {
    // Each time one heartbeat is not sent.
    const auto missed = static_cast<int64_t>(fault->hits) + 1;
    hindrances_.Add(
        {.kind = Hindrance::Kind::kBeats,
         .of = process.id,
         .from_ns = event.t_ns,
         .until_ns =
             fault->always
                 ? kForEver
                 : event.t_ns + missed * record_.setup.heartbeat_every_ns});
  }
  if (fault->of_one_host) process.cut_off = true;
  const bool stands = fault->kind == "hang" || fault->kind == "pause";
  const bool beside =
      record_.setup.saves_beside && fault->point.starts_with("ckpt.");
  if (!stands || beside || fault->point == "ctl.heartbeat") return;
  const int64_t until_ns =
      fault->duration_ns == 0 ? kForEver : event.t_ns + fault->duration_ns;
  Owe(process, event.t_ns, until_ns);
  if (fault->kind == "pause") OweSilence(process, event.t_ns, until_ns);
  // Its others wait for it in a save, or at the end, as long as in one.
  if (fault->point.starts_with("ckpt.") || fault->point == "run.finish") {
    NoteSaving(process);
  }
}

// From here on its others may find it gone.
void Processes::Leave(Process& process, const RecordEvent& event) {
  if (!process.leaving_ns) {
    process.leaving_ns = event.t_ns;
    hindrances_.Add({.kind = Hindrance::Kind::kAbsent,
                     .of = process.id,
                     .from_ns = event.t_ns,
                     .until_ns = kForEver});
  }
  process.leaves_generation = event.generation;
  Discharge(process, event.t_ns);
}

void Processes::CheckLeaving(Process& process, const RecordEvent& event) {
  if (record_.ending != RunEnding::kExited) return;
  using Reason = RecordReason;
  bool explained = true;
  if (IsOfReason(event.reason, {Reason::kLostWorker, Reason::kDeadline})) {
    explained = process.has_cause_to_leave || HasMetAnError(process);
  } else if (event.reason == Reason::kDevice) {
    explained = std::ranges::any_of(process.fired, [](const Fired& fired) {
      return TraitsOf(*fired.fault).fails_device ||
             fired.fault->point == "device.open";
    });
  } else if (event.reason == Reason::kSuperseded) {
    explained = std::ranges::any_of(processes_, [&](const auto& entry) {
      const Process& other = entry.second;
      // Who has no generation yet is refused by a chief that has one.
      const bool refuses = process.generation == 0 && other.rank == 0;
      return other.superseded &&
             (other.id == process.id ||
              other.generation == process.generation || refuses);
    });
  } else if (event.reason == Reason::kMissingFile && OlderIsThere(process)) {
    explained = true;  // that one may have its address still
  } else if (IsOfReason(event.reason, {Reason::kDiskError, Reason::kDiskFull,
                                       Reason::kForbidden, Reason::kMissingFile,
                                       Reason::kBadData})) {
    explained = HasMetAnError(process) || store_deleted_;
    const bool starts_later = IsExit(event.count, {WorkerExit::kStartLater});
    explained = explained && (starts_later || !WasInASave(process));
  }
  // Another start would train again what is in memory, and meet the same disk.
  if (event.reason == Reason::kDiskFull && IsLostWorker(event)) {
    explained = false;
  }
  if (explained) return;
  checks_.no_spontaneous_exit.Breach(
      "unexplained-exit",
      fmt::format(
          "{} left ({}: {}), and nothing that is recorded explains it{}",
          NameOf(process.id), RecordReasonName(event.reason), event.detail,
          ByTheKernel(record_)));
}

// A worker that has lost another one in training waits for nobody any more.
void Processes::CheckLeavesSoon(Process& process, const RecordEvent& event) {
  const auto lost_ns = std::exchange(process.lost_ns, std::nullopt);
  const int64_t bound = SoonNs();
  if (!lost_ns || bound <= 0 || process.in_save || process.finished ||
      record_.setup.saves_beside || record_.ending != RunEnding::kExited) {
    return;
  }
  const int64_t took =
      hindrances_.Undisturbed(*lost_ns, event.t_ns, [&](const Hindrance& one) {
        return one.of == process.id && one.kind != Hindrance::Kind::kAbsent;
      });
  checks_.detection.Instance();
  if (took <= bound) return;
  checks_.detection.Breach(
      "not-acted-on",
      fmt::format("{} left its generation {:.3f} s after it had noticed a "
                  "loss, expected at most {:.3f} s",
                  NameOf(process.id), Seconds(took), Seconds(bound)));
}

// Whether an earlier process of its worker has not ended.
bool Processes::OlderIsThere(const Process& process) const {
  return std::ranges::any_of(processes_, [&](const auto& entry) {
    const Process& other = entry.second;
    return other.id.worker == process.id.worker && other.id != process.id &&
           !other.ended_ns;
  });
}

// When what such a fault may have cost was over: with the next step, or, in a
// save beside the training, with the next save that succeeds.
int64_t Processes::OverAt(const Fired& fired, const Process& process) const {
  const bool beside =
      record_.setup.saves_beside && fired.fault->point.starts_with("ckpt.");
  if (!beside) return process.last_step_ns;
  const auto saved = acknowledged_ns_.find(process.generation);
  return saved == acknowledged_ns_.end() ? 0 : saved->second;
}

// Whether a fault has given the process, or one that it has to agree with, an
// error that it may end of. One that only cost a save is no reason for what
// comes steps later.
bool Processes::HasMetAnError(const Process& process) const {
  return std::ranges::any_of(processes_, [&](const auto& entry) {
    const Process& other = entry.second;
    // Who has no state yet meets those who have none either.
    const uint64_t theirs = other.has_state ? other.generation : 0;
    const uint64_t its = process.has_state ? process.generation : 0;
    const bool was_there = its != 0 || !other.ended_ns ||
                           *other.ended_ns >= process.meeting_since_ns;
    const bool has_left =
        other.generation == 0 && its != 0 && other.leaves_generation == its;
    const bool together =
        other.id == process.id || has_left || (theirs == its && was_there);
    return together &&
           std::ranges::any_of(other.fired, [&](const Fired& fired) {
             const FaultTraits traits = TraitsOf(*fired.fault);
             if (traits.damages_store) return true;
             return traits.tells_error &&
                    (fired.fault->always || fired.t_ns >= OverAt(fired, other));
           });
  });
}

// Whether it trains, and all errors that it has met were in saves: those cost a
// save, and no worker.
bool Processes::WasInASave(const Process& process) const {
  if (!process.has_state || process.finished || store_deleted_) return false;
  bool any = false;
  for (const auto& [id, other] : processes_) {
    for (const Fired& fired : other.fired) {
      const FaultTraits traits = TraitsOf(*fired.fault);
      if (!traits.tells_error && !traits.damages_store) continue;
      if (!fired.fault->in_save) return false;
      any = true;
    }
  }
  return any;
}

std::vector<const Processes::Process*> Processes::OfRank(
    std::optional<int> rank, const Process& but) const {
  std::vector<const Process*> found;
  for (const auto& [id, process] : processes_) {
    const bool was_there =
        !process.ended_ns || *process.ended_ns >= but.meeting_since_ns;
    const bool is_meant = !rank || process.rank == *rank;
    if (is_meant && id != but.id && was_there) {
      found.push_back(&process);
    }
  }
  return found;
}

bool Processes::IsGoneOrLeaving(const Process& process, int64_t t_ns) const {
  const auto by_then = [&](const std::optional<int64_t>& when) {
    return when && *when <= t_ns + kStampSlackNs;
  };
  return by_then(process.ended_ns) || by_then(process.leaving_ns) ||
         IsKilled(process, t_ns);
}

// Whether a chief that turns the process away has met an error itself, or has
// lost somebody: for it the meeting has ended.
bool Processes::MayHaveRefused(const Process& process,
                               const RecordEvent& event) const {
  const std::vector<const Process*> chiefs = OfRank(event.about, process);
  const auto disturbs = [&](const Hindrance& one) {
    using Kind = Hindrance::Kind;
    if (one.kind == Kind::kLinks || one.kind == Kind::kLateFrames) return true;
    return one.kind != Kind::kAbsent &&
           (one.of == process.id ||
            std::ranges::any_of(chiefs, [&](const Process* chief) {
              return chief->id == one.of;
            }));
  };
  if (hindrances_.Any(process.meeting_since_ns, event.t_ns, disturbs)) {
    return true;
  }
  return std::ranges::any_of(chiefs, [&](const Process* chief) {
    return HasMetAnError(*chief) || chief->superseded ||
           chief->left != nullptr ||
           chief->refused_ns >= process.meeting_since_ns;
  });
}

// Whether nothing could be heard of it for as long as was waited.
bool Processes::WasSilent(const Process& process,
                          const RecordEvent& wait) const {
  if (process.cut_off || process.unreachable) return true;
  const int64_t limit = wait.limit_ns;
  const int64_t heard = hindrances_.Undisturbed(
      wait.t_ns - limit, wait.t_ns, [&](const Hindrance& one) {
        return one.kind != Hindrance::Kind::kTask &&
               MatchesLateness(one, limit);
      });
  return heard <= 2 * record_.setup.heartbeat_every_ns;
}

// Whether something stood in the way of the work for most of the time that was
// waited.
bool Processes::WasHeldUp(const RecordEvent& wait) const {
  const int64_t limit = wait.limit_ns;
  const int64_t worked = hindrances_.Undisturbed(
      wait.t_ns - limit, wait.t_ns,
      [&](const Hindrance& one) { return MatchesLateness(one, limit); });
  return worked <= limit / kShareOfWork + record_.setup.heartbeat_every_ns;
}

bool Processes::IsExplained(const Process& process,
                            const RecordEvent& wait) const {
  const std::vector<const Process*> others = OfRank(wait.about, process);
  const auto any = [&others](const auto& is_so) {
    return std::ranges::any_of(
        others, [&is_so](const Process* other) { return is_so(*other); });
  };
  const bool meets = !process.has_state ||
                     any([](const Process& other) { return !other.has_state; });
  const auto is_gone = [&](const Process& other) {
    return IsGoneOrLeaving(other, wait.t_ns);
  };
  switch (wait.reason) {
    case RecordReason::kRefused:
      return MayHaveRefused(process, wait);
    case RecordReason::kSilent:
      return any([&](const Process& other) { return WasSilent(other, wait); });
    case RecordReason::kDeadline:
      // The successor of one that is gone answers in the next meeting.
      return WasHeldUp(wait) || any(FailsAgainAndAgain) ||
             (meets && (any(is_gone) || HurtsLinks(process, wait.t_ns, meets)));
    default:
      return any(is_gone) || HurtsLinks(process, wait.t_ns, meets);
  }
}

// Whether an error at every occurrence keeps it from coming to a state.
bool Processes::FailsAgainAndAgain(const Process& process) {
  return !process.has_state &&
         std::ranges::any_of(process.fired, [](const Fired& fired) {
           return fired.fault->always && TraitsOf(*fired.fault).tells_error;
         });
}

// Whether connections of this meeting, or generation, were cut or reset, or, as
// they meet, a frame was late: who gets an answer too late hangs up and calls
// again, and the other one waits until its limit.
bool Processes::HurtsLinks(const Process& process, int64_t t_ns,
                           bool is_meeting) const {
  return hindrances_.Any(process.meeting_since_ns, t_ns,
                         [&](const Hindrance& one) {
                           using Kind = Hindrance::Kind;
                           return one.kind == Kind::kLinks ||
                                  (one.kind == Kind::kLateFrames && is_meeting);
                         });
}

void Processes::CheckWait(const Process& process, const RecordEvent& event) {
  if (record_.ending != RunEnding::kExited) return;
  checks_.no_spontaneous_exit.Instance();
  if (IsExplained(process, event)) return CheckPromptness(process, event);
  checks_.no_spontaneous_exit.Breach(
      "unexplained-loss",
      fmt::format("{} gave rank {} up ({}, after {:.3f} s), and nothing that "
                  "is recorded kept that one from answering",
                  NameOf(process.id), event.about ? *event.about : process.rank,
                  RecordReasonName(event.reason), Seconds(event.limit_ns)));
}

// When what the process now says it lost had gone, or stood still: since what
// is in the way now began, or by the last fault that ended a process or reset
// connections.
std::optional<int64_t> Processes::LostSince(const Process& process,
                                            const RecordEvent& loss) const {
  const auto since = hindrances_.Since(loss.t_ns, [](const Hindrance& one) {
    return one.kind != Hindrance::Kind::kAbsent;
  });
  if (since) return since;
  std::optional<int64_t> last;
  for (const auto& [id, other] : processes_) {
    for (const Fired& fired : other.fired) {
      const bool ends = KillsAfter(*fired.fault) == 0 ||
                        fired.fault->kind == "connection_reset";
      if (ends && fired.t_ns >= process.meeting_since_ns &&
          fired.t_ns <= loss.t_ns) {
        last = std::max(last.value_or(fired.t_ns), fired.t_ns);
      }
    }
  }
  return last;
}

// What a worker loses it loses in time.
void Processes::CheckPromptness(const Process& process,
                                const RecordEvent& event) {
  if (event.reason == RecordReason::kRefused) return;
  const auto since = LostSince(process, event);
  if (!since) return;
  const int64_t took = event.t_ns - *since;
  const int64_t bound = record_.expect.detected_in_max_ns.value_or(0);
  checks_.detection.Instance();
  if (bound <= 0 || took <= bound) return;
  checks_.detection.Breach(
      "late",
      fmt::format("rank {} was given up after {:.3f} s, expected at "
                  "most {:.3f} s",
                  event.about.value_or(-1), Seconds(took), Seconds(bound)));
}

void Processes::CheckChiefSilent(const RecordEvent& event) {
  if (record_.ending != RunEnding::kExited) return;
  const Process* const chief = FindAbout(event);
  const auto stands = [chief](const Hindrance& one) {
    using Kind = Hindrance::Kind;
    return chief != nullptr && one.of == chief->id &&
           (one.kind == Kind::kTask || one.kind == Kind::kProcess);
  };
  if (const auto since = hindrances_.Since(event.t_ns, stands)) {
    const int64_t took = event.t_ns - *since;
    const int64_t bound = record_.expect.detected_in_max_ns.value_or(
        record_.setup.detection_bound_joining_ns);
    checks_.detection.Instance();
    if (bound > 0 && took > bound) {
      checks_.detection.Breach(
          "late", fmt::format("the launcher noticed after {:.3f} s that the "
                              "chief hangs, expected at most {:.3f} s",
                              Seconds(took), Seconds(bound)));
    }
  }
  if (WasHeldUp(event)) return CheckNoticedFirst(chief, event);
  if (chief != nullptr && FailsAgainAndAgain(*chief)) return;
  checks_.no_spontaneous_exit.Breach(
      "unexplained-loss",
      fmt::format("the launcher heard nothing of worker {} for {:.3f} s, and "
                  "nothing that is recorded kept it from talking",
                  event.about.value_or(-1), Seconds(event.limit_ns)));
}

// A worker that another one hangs in a step of notices it before the launcher
// hears too little of the chief.
void Processes::CheckNoticedFirst(const Process* chief,
                                  const RecordEvent& event) {
  if (chief == nullptr || !chief->has_state || chief->in_save ||
      chief->finished || chief->stops) {
    return;
  }
  const int64_t from_ns = event.t_ns - event.limit_ns;
  const Hindrance* alone = nullptr;
  for (const Hindrance& one : hindrances_.all()) {
    if (one.from_ns > event.t_ns || one.until_ns < from_ns) continue;
    if (alone != nullptr || one.of == chief->id) return;
    alone = &one;
  }
  if (alone == nullptr || alone->kind != Hindrance::Kind::kTask ||
      alone->until_ns < event.t_ns) {
    return;
  }
  const int64_t hung_ns = event.t_ns - alone->from_ns;
  const RunSetup& setup = record_.setup;
  if (hung_ns <= setup.hang_limit_ns + setup.heartbeat_every_ns) return;
  checks_.detection.Instance();
  checks_.detection.Breach(
      "not-by-a-worker",
      fmt::format("{} hung for {:.3f} s, and no worker noticed before the "
                  "launcher heard too little of the chief",
                  NameOf(alone->of), Seconds(hung_ns)));
}

void Processes::Owe(const Process& lost, int64_t t_ns, int64_t until_ns) {
  if (lost.generation == 0) return;
  bool saving = false;
  for (const auto& [id, other] : processes_) {
    if (other.generation != lost.generation || other.ended_ns) continue;
    saving = saving || other.in_save || other.finished;
  }
  saving = saving || lost.in_save || lost.finished;
  for (const auto& [id, other] : processes_) {
    if (id == lost.id || other.generation != lost.generation ||
        other.ended_ns || other.leaving_ns || other.left != nullptr) {
      continue;
    }
    duties_.push_back({.of = id,
                       .lost = lost.id,
                       .since_ns = t_ns,
                       .until_ns = until_ns,
                       .joining = !other.has_state || !lost.has_state,
                       .saving = saving});
  }
}

// Its others wait for it there, or it for them.
void Processes::NoteSaving(const Process& process) {
  for (Duty& duty : duties_) {
    const Process& of = processes_.at(duty.of);
    if (of.generation == process.generation) duty.saving = true;
  }
}

// Who is done says good-bye, and listens for heartbeats no more.
void Processes::EndSilence(const Process& process, int64_t t_ns) {
  std::erase_if(duties_, [&](const Duty& duty) {
    if (!duty.silence || duty.of != process.id) return false;
    CheckDuty(duty, t_ns);
    return true;
  });
}

void Processes::Discharge(const Process& process, int64_t t_ns) {
  std::erase_if(duties_, [&](const Duty& duty) {
    if (duty.of != process.id) return false;
    CheckDuty(duty, t_ns);
    return true;
  });
}

// Within which time a worker that waits for nothing but heartbeats acts; 0: not
// known. A real machine may keep it from running for as long, and nobody says
// so.
int64_t Processes::SoonNs() const {
  const RunSetup& setup = record_.setup;
  if (record_.world != "sim" || setup.silence_limit_ns <= 0) return 0;
  return setup.silence_limit_ns + 2 * setup.heartbeat_every_ns;
}

// The chief and each other rank send each other heartbeats, in a save too.
void Processes::OweSilence(const Process& silent, int64_t t_ns,
                           int64_t until_ns) {
  if (SoonNs() <= 0) return;
  for (const auto& [id, other] : processes_) {
    const bool talk = (silent.rank == 0) != (other.rank == 0);
    const auto trains = [](const Process& one) {
      return one.has_state && !one.finished && !one.stops && !one.ended_ns &&
             !one.leaving_ns;
    };
    if (!talk || other.generation != silent.generation || !trains(silent) ||
        !trains(other)) {
      continue;
    }
    duties_.push_back({.of = id,
                       .lost = silent.id,
                       .since_ns = t_ns,
                       .until_ns = until_ns,
                       .silence = true});
  }
}

int64_t Processes::BoundOf(const Duty& duty, int64_t t_ns) const {
  const RunSetup& setup = record_.setup;
  if (duty.silence) return SoonNs();
  // What ends by itself is no loss.
  if (record_.expect.detected_in_max_ns && duty.until_ns > t_ns) {
    return *record_.expect.detected_in_max_ns;
  }
  if (duty.joining) return setup.detection_bound_joining_ns;
  return duty.saving ? setup.detection_bound_saving_ns
                     : setup.detection_bound_ns;
}

void Processes::CheckDuty(const Duty& duty, int64_t t_ns) {
  if (record_.ending != RunEnding::kExited) return;
  const int64_t bound = BoundOf(duty, t_ns);
  if (bound <= 0) return;
  const int64_t until = std::min(t_ns, duty.until_ns);
  // A late heartbeat is one, and others do not matter for it.
  const auto disturbs = [&](const Hindrance& one) {
    if (!MatchesLateness(one, bound)) return false;
    if (duty.silence) {
      return one.kind == Hindrance::Kind::kLateFrames ||
             (one.of == duty.of && one.kind == Hindrance::Kind::kProcess);
    }
    return one.of != duty.lost && one.kind != Hindrance::Kind::kAbsent;
  };
  const int64_t took = hindrances_.Undisturbed(duty.since_ns, until, disturbs);

  checks_.detection.Instance();
  if (took <= bound) return;
  checks_.detection.Breach(
      "late", fmt::format("{} had lost {} for {:.3f} s, and went on, expected "
                          "at most {:.3f} s",
                          NameOf(duty.of), NameOf(duty.lost), Seconds(took),
                          Seconds(bound)));
}

}  // namespace gauntlet
