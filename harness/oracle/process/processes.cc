#include "harness/oracle/process/processes.h"

#include <algorithm>
#include <utility>

#include "engine/worker_exit_code.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include <fmt/format.h>

namespace gauntlet {

Processes::Processes(const Record& record, Checks& checks)
    : record_(record),
      checks_(checks),
      all_known_(
          !record.launchers.empty() &&
          std::ranges::none_of(record.launchers, [](const LauncherRun& run) {
            return run.events.empty();
          })) {}

void Processes::On(const HistoryEvent& emitted) {
  const RecordEvent& event = *emitted.event;
  CheckProgress(emitted);
  switch (emitted.by.kind) {
    case Emitter::Kind::kMachine:
      return OnMachine(event);
    case Emitter::Kind::kLauncher:
      return OnLauncher(emitted.by, event);
    case Emitter::Kind::kWorker:
      if (Process* const process = Find(emitted.by)) {
        CheckAlive(*process, event);
        return OnWorker(*process, event);
      }
      Process& process = processes_[emitted.by];
      process.id = emitted.by;
      process.started_ns = event.t_ns;
      if (!all_known_) return OnWorker(process, event);
      checks_.no_spontaneous_exit.Fail(
          "not-started",
          fmt::format("{} emitted {}, but no launcher had started it",
                      NameOf(emitted.by), RecordKindName(event.kind)));
      return;
  }
}

// Checks that two consecutive events are at most the longest deadline apart.
// Time during which a fault hinders the processes does not count.
void Processes::CheckProgress(const HistoryEvent& emitted) {
  const RunSetup& setup = record_.setup;
  const int64_t now_ns = emitted.event->t_ns;
  const int64_t before_ns = std::exchange(last_ns_, std::max(last_ns_, now_ns));
  const int64_t bound =
      std::max({setup.detection_bound_ns, setup.detection_bound_saving_ns,
                setup.detection_bound_joining_ns}) +
      setup.restart_pause_ns;
  const bool is_known = setup.detection_bound_joining_ns > 0 && before_ns > 0;
  if (!is_known || now_ns - before_ns <= bound) return;
  // A blocked process excuses at most `bound` of silence: within that time it
  // must be detected and replaced.
  const int64_t idle = hindrances_.Undisturbed(
      before_ns, now_ns,
      [&](const Hindrance& one) {
        return one.kind != Hindrance::Kind::kAbsent &&
               MatchesLateness(one, bound);
      },
      bound);
  if (idle <= bound) return;
  checks_.no_hang.Count();
  checks_.no_hang.Fail(
      "standstill",
      fmt::format("no event for {:.3f} s before {} ({}), expected at most "
                  "{:.3f} s",
                  Seconds(idle), RecordKindName(emitted.event->kind),
                  NameOf(emitted.by), Seconds(bound)));
}

void Processes::CheckAlive(const Process& process, const RecordEvent& event) {
  if (!process.ended_ns || event.t_ns <= *process.ended_ns + kStampSlackNs) {
    return;
  }
  checks_.no_spontaneous_exit.Fail(
      "after-end", fmt::format("{} emitted {} after its end",
                               NameOf(process.id), RecordKindName(event.kind)));
}

Processes::Process* Processes::Find(const Emitter& id) {
  const auto found = processes_.find(id);
  return found == processes_.end() ? nullptr : &found->second;
}

Processes::Process* Processes::FindAbout(const RecordEvent& event) {
  if (!event.about || *event.about < 0) return nullptr;
  return Find(WorkerAbout(event));
}

void Processes::OnMachine(const RecordEvent& event) {
  Process* const process = FindAbout(event);
  if (event.kind == RecordKind::kFrameLate) {
    if (process == nullptr) return;
    hindrances_.FrameLate(process->id, event.t_ns, event.limit_ns);
  } else if (event.kind == RecordKind::kProcessEnded) {
    if (process != nullptr) End(*process, event);
    if (event.about == kLauncherWorker) {
      ended_launchers_.insert(launcher_.incarnation);
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
                       .until_ns = Hindrances::kForEver});
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

// Checks that a launcher makes no further attempt after a worker exited with
// kStartLater.
void Processes::CheckRestart() {
  if (!starts_later_ || record_.setup.rejoins) return;
  checks_.no_spontaneous_exit.Fail(
      "restarted", fmt::format("worker {} exited to be started later, but its "
                               "launcher made another attempt",
                               *starts_later_));
}

void Processes::Begin(const RecordEvent& event) {
  if (!event.about) return;
  const Emitter id = WorkerAbout(event);
  launcher_.starts_workers = true;
  processes_[id] = {.id = id,
                    .launcher = launcher_.incarnation,
                    .rank = static_cast<int>(event.count),
                    .started_ns = event.t_ns,
                    .rendezvous_since_ns = event.t_ns};
  checks_.no_spontaneous_exit.Count();
}

// Checks that a launcher which finds orphans, the workers of a killed launcher,
// waits until they have ended, instead of giving up.
void Processes::CheckTakesUp(const RecordEvent& event) {
  if (!launcher_.finds_orphans) return;
  checks_.restarts.Count();
  if (launcher_.starts_workers ||
      !IsExit(event.count, {WorkerExit::kLostWorker})) {
    return;
  }
  checks_.restarts.Fail(
      "not-taken-up",
      fmt::format("launcher {} exited without starting a worker, as workers of "
                  "a killed launcher had not ended yet",
                  launcher_.incarnation));
}

void Processes::OnWorker(Process& process, const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kWorkerStarted:
      if (all_known_ && process.rank != event.count) {
        checks_.no_spontaneous_exit.Fail(
            "rank", fmt::format("{} reports rank {}, but its launcher started "
                                "rank {}",
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
    case RecordKind::kResumedFromMemory:
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
      save_ended_ns_ = event.t_ns;
      break;
    case RecordKind::kFinished:
      process.finished = true;
      NoteSaving(process);
      Discharge(process, event.t_ns, Discharges::kSilence);
      break;
    case RecordKind::kStopAgreed:
      process.stops = true;
      Discharge(process, event.t_ns, Discharges::kSilence);
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
      process.rendezvous_since_ns = event.t_ns;
      process.generation = 0;
      process.has_state = false;
      break;
    case RecordKind::kWorkerExited:
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
  // Notes that the process is no longer leaving. Exception: if it has already
  // reported a loss in this generation, it still has to leave.
  if (process.leaves_generation != event.generation) {
    process.leaving_ns.reset();
    process.has_cause_to_leave = false;
    hindrances_.Present(process.id.worker, event.t_ns);
  }
}

void Processes::Fire(Process& process, const RecordEvent& event) {
  const RecordFault* const fault = FindFault(record_, event.detail);
  if (fault == nullptr) return;
  const FaultTraits traits = TraitsOf(*fault);
  process.fired.push_back({.fault = fault, .t_ns = event.t_ns});
  hindrances_.Fired(*fault, process.id, event.t_ns);
  // The record of a real run has no event for the end of a killed launcher, so
  // the fault that kills the launcher counts as that event.
  if (traits.kills_launcher && record_.machine.empty()) {
    ended_launchers_.insert(process.launcher);
  }
  if (traits.reports_error && fault->point == "ctl.heartbeat") {
    // Each occurrence drops one heartbeat.
    const auto missed = static_cast<int64_t>(fault->hits) + 1;
    hindrances_.Add(
        {.kind = Hindrance::Kind::kBeats,
         .of = process.id,
         .from_ns = event.t_ns,
         .until_ns =
             fault->always
                 ? Hindrances::kForEver
                 : event.t_ns + missed * record_.setup.heartbeat_every_ns});
  }
  if (fault->of_one_host) process.cut_off = true;
  const bool in_async_save =
      record_.setup.async_saves && fault->point.starts_with("ckpt.");
  if (!traits.BlocksTask() || in_async_save ||
      fault->point == "ctl.heartbeat") {
    return;
  }
  const int64_t until_ns = fault->duration_ns == 0
                               ? Hindrances::kForEver
                               : event.t_ns + fault->duration_ns;
  Owe(process, event.t_ns, until_ns);
  if (traits.hinders == HinderedPart::kProcess) {
    OweSilence(process, event.t_ns, until_ns);
  }
  // For a process that is blocked in a save or at the end of the run, the other
  // workers wait as long as a save may take.
  if (fault->point.starts_with("ckpt.") ||
      fault->point.starts_with("export.") || fault->point == "run.finish") {
    NoteSaving(process);
  }
}

// Notes that the process has left its generation: from now on the other workers
// may find it gone.
void Processes::Leave(Process& process, const RecordEvent& event) {
  if (!process.leaving_ns) {
    process.leaving_ns = event.t_ns;
    hindrances_.Add({.kind = Hindrance::Kind::kAbsent,
                     .of = process.id,
                     .from_ns = event.t_ns,
                     .until_ns = Hindrances::kForEver});
  }
  // A loss that is reported during a rendezvous has no generation yet.
  if (event.generation != 0) process.leaves_generation = event.generation;
  Discharge(process, event.t_ns);
}

}  // namespace gauntlet
