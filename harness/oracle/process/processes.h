// Processes: checks that every exit and every lost worker has a recorded cause,
// and that losses are detected in time.
//
// A process ends with an exit event, or because of a fault that fired in it, a
// kill that its launcher recorded, or a power loss. If a worker declares a rank
// lost, its event names that rank. The rank must have ended, left, or been kept
// from answering for as long as the worker waited. A fault explains only its
// own effects.
#ifndef GAUNTLET_HARNESS_ORACLE_PROCESS_PROCESSES_H_
#define GAUNTLET_HARNESS_ORACLE_PROCESS_PROCESSES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/history/check.h"
#include "harness/oracle/history/hindrances.h"
#include "harness/oracle/history/history.h"
#include "harness/record/record.h"

namespace gauntlet {

class Processes {
 public:
  // Both must outlive this object.
  Processes(const Record& record, Checks& checks);

  // Processes the next event. REQUIRES: events come in the order of the
  // history.
  void On(const HistoryEvent& emitted);
  // Checks the processes that are still running. Called after the last event.
  void End();

 private:
  struct Fired {
    const RecordFault* fault = nullptr;
    int64_t t_ns = 0;
  };
  // One process of a worker.
  struct Process {
    Emitter id;
    int launcher = 0;  // incarnation of the launcher that started it
    int rank = -1;
    int64_t started_ns = 0;
    // Begin of the newest rendezvous of the process: its start, or the last
    // time that it left a generation.
    int64_t rendezvous_since_ns = 0;
    int64_t last_step_ns = 0;
    std::optional<int64_t> ended_ns;
    bool unreachable = false;  // its launcher declared it unreachable
    bool cut_off = false;      // its host has lost power
    bool kill_sent = false;
    std::vector<Fired> fired;
    // Generation that the process has claimed or joined; 0: none.
    uint64_t generation = 0;
    bool has_state = false;
    bool in_save = false;
    bool finished = false;
    bool stops = false;  // has agreed to stop
    bool superseded = false;
    const RecordEvent* left = nullptr;  // its exit event
    int64_t refused_ns = -1;            // last time that it ended a rendezvous
    // Time of the first event by which the process announces that it leaves its
    // generation.
    std::optional<int64_t> leaving_ns;
    uint64_t leaves_generation = 0;   // generation in that event
    bool has_cause_to_leave = false;  // recorded in this generation
    std::optional<int64_t> lost_ns;   // when it first detected a loss
  };
  // One process must detect the loss of another process within a bound.
  struct Duty {
    Emitter of;    // the process that has the duty
    Emitter lost;  // the process that is lost
    int64_t since_ns = 0;
    int64_t until_ns = 0;  // end of the disturbance
    bool joining = false;  // one of the two has no state yet
    bool saving = false;   // a worker saves, or has finished
    bool silence = false;  // the loss shows in missing heartbeats
  };

  // State of the newest launcher.
  struct Launcher {
    int incarnation = 0;
    bool starts_workers = false;
    bool finds_orphans = false;  // at its start
  };

  void OnMachine(const RecordEvent& event);
  void OnLauncher(const Emitter& by, const RecordEvent& event);
  void OnWorker(Process& process, const RecordEvent& event);

  void CheckProgress(const HistoryEvent& emitted);
  void CheckAlive(const Process& process, const RecordEvent& event);
  Process* Find(const Emitter& id);
  Process* FindAbout(const RecordEvent& event);
  void CheckRestart();
  void Begin(const RecordEvent& event);
  bool IsOrphan(const Process& process) const;
  void CheckOrphan(const Process& process, int64_t t_ns);
  void CheckTakesUp(const RecordEvent& event);
  void End(Process& process, const RecordEvent& event);
  void CheckEnd(const Process& process, const RecordEvent& event);
  bool IsKilled(const Process& process, int64_t t_ns) const;
  void Fire(Process& process, const RecordEvent& event);
  void Leave(Process& process, const RecordEvent& event);
  void CheckLeaving(Process& process, const RecordEvent& event);
  void CheckLeavesSoon(Process& process, const RecordEvent& event);
  bool OlderIsThere(const Process& process) const;
  int64_t OverAt(const Fired& fired, const Process& process) const;
  bool HasMetAnError(const Process& process) const;
  bool WasInASave(const Process& process) const;
  bool MayHaveRefused(const Process& process, const RecordEvent& event) const;
  void CheckWait(const Process& process, const RecordEvent& event);
  std::optional<int64_t> LostSince(const Process& process,
                                   const RecordEvent& loss) const;
  bool IsOnlyReporterHeldUp(const Process& process,
                            const RecordEvent& loss) const;
  void CheckPromptness(const Process& process, const RecordEvent& event);
  void CheckChiefSilent(const RecordEvent& event);
  void CheckNoticedFirst(const Process* chief, const RecordEvent& event);
  bool IsGoneOrLeaving(const Process& process, int64_t t_ns) const;
  bool IsExplained(const Process& process, const RecordEvent& wait) const;
  static bool FailsAgainAndAgain(const Process& process);
  bool HurtsLinks(const Process& process, int64_t t_ns,
                  bool in_rendezvous) const;
  bool WasSilent(const Process& process, const RecordEvent& wait) const;
  bool WasHeldUp(const RecordEvent& wait) const;
  // Returns the processes of the rank (of all ranks if `rank` is nullopt) that
  // ran at any time since the newest rendezvous of `but` began. The result does
  // not include `but` itself.
  std::vector<const Process*> OfRank(std::optional<int> rank,
                                     const Process& but) const;
  void Join(Process& process, const RecordEvent& event);

  // Adds a duty for each other process of the generation of `lost`: the process
  // must detect the loss of `lost`. The loss begins at `t_ns` and ends at
  // `until_ns`. OweSilence adds the duties to detect missing heartbeats.
  void Owe(const Process& lost, int64_t t_ns, int64_t until_ns);
  void OweSilence(const Process& silent, int64_t t_ns, int64_t until_ns);
  int64_t SoonNs() const;
  int64_t BoundOf(const Duty& duty, int64_t t_ns) const;
  // Duties that Discharge ends. kSilence: only those to detect missing
  // heartbeats, because a worker that has finished or agreed to stop no longer
  // watches for heartbeats.
  enum class Discharges : uint8_t { kAll, kSilence };
  void Discharge(const Process& process, int64_t t_ns,
                 Discharges which = Discharges::kAll);
  void CheckDuty(const Duty& duty, int64_t t_ns);
  void NoteSaving(const Process& process);

  const Record& record_;
  Checks& checks_;
  std::map<Emitter, Process> processes_;
  Hindrances hindrances_;
  std::vector<Duty> duties_;
  std::optional<int64_t> power_cut_ns_;  // power loss of the whole machine
  Launcher launcher_;
  std::set<int> ended_launchers_;  // incarnations
  // Times at which signals killed launchers, by the launcher's incarnation.
  std::map<int, int64_t> launcher_killed_ns_;
  std::optional<int> starts_later_;  // worker that exited with kStartLater
  int64_t save_ended_ns_ = -1;       // end of the newest save
  int64_t last_ns_ = 0;              // latest time of the events so far
  bool store_deleted_ = false;
  std::map<uint64_t, int64_t> acknowledged_ns_;  // newest save, by generation
  bool all_known_ = false;                       // all launchers have events
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_PROCESS_PROCESSES_H_
