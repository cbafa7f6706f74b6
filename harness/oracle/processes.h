// Why processes end, and why workers leave each other: every end has a recorded
// cause, and every loss is noticed in time.
//
// A worker that ends says so, or a fault that fired in it ends it, or its
// launcher has said that it kills it, or the power went. A worker that leaves
// others says for whom it waited in vain, and that one was gone, or leaving, or
// kept from answering for as long as was waited. These are the only causes: a
// fault explains what it does itself, and nothing else.
#ifndef GAUNTLET_HARNESS_ORACLE_PROCESSES_H_
#define GAUNTLET_HARNESS_ORACLE_PROCESSES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/check.h"
#include "harness/oracle/hindrances.h"
#include "harness/oracle/history.h"
#include "harness/record/record.h"

namespace gauntlet {

class Processes {
 public:
  // Both outlive this.
  Processes(const Record& record, Checks& checks);

  // In the order of the history.
  void On(const HistoryEvent& said);
  // After the last one.
  void End();

 private:
  struct Fired {
    const RecordFault* fault = nullptr;
    int64_t t_ns = 0;
  };
  // One process of a worker.
  struct Process {
    Emitter id;
    int launcher = 0;  // that started it: its incarnation
    int rank = -1;
    int64_t started_ns = 0;
    // It looks for the others: from its start, or since it left a generation.
    int64_t meeting_since_ns = 0;
    int64_t last_step_ns = 0;
    std::optional<int64_t> ended_ns;
    bool unreachable = false;  // its launcher has given it up
    bool cut_off = false;      // its host has lost power
    bool kill_sent = false;
    std::vector<Fired> fired;
    // The generation that it has a state of, or is about to have.
    uint64_t generation = 0;
    bool has_state = false;
    bool in_save = false;
    bool finished = false;
    bool stops = false;  // has agreed to
    bool superseded = false;
    const RecordEvent* left = nullptr;  // its last word
    int64_t refused_ns = -1;            // when the chief last turned all away
    // The first sign that it leaves its generation; none: it does not.
    std::optional<int64_t> leaving_ns;
    uint64_t leaves_generation = 0;   // as it said with that
    bool has_cause_to_leave = false;  // said in this generation
    std::optional<int64_t> lost_ns;   // since when it knows of a loss
  };
  // What one process is to notice of another, and within which time.
  struct Duty {
    Emitter of;
    Emitter lost;
    int64_t since_ns = 0;
    int64_t until_ns = 0;  // when what it does is over
    bool joining = false;
    bool saving = false;
    bool silence = false;  // its heartbeats stay away
  };

  // The launcher that began last.
  struct Launcher {
    int incarnation = 0;
    bool starts_workers = false;
    bool finds_orphans = false;  // as it begins
  };

  void OnMachine(const RecordEvent& event);
  void OnLauncher(const Emitter& by, const RecordEvent& event);
  void OnWorker(Process& process, const RecordEvent& event);

  void CheckProgress(const HistoryEvent& said);
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
  void CheckPromptness(const Process& process, const RecordEvent& event);
  void CheckChiefSilent(const RecordEvent& event);
  void CheckNoticedFirst(const Process* chief, const RecordEvent& event);
  bool IsGoneOrLeaving(const Process& process, int64_t t_ns) const;
  bool IsExplained(const Process& process, const RecordEvent& wait) const;
  static bool FailsAgainAndAgain(const Process& process);
  bool HurtsLinks(const Process& process, int64_t t_ns, bool is_meeting) const;
  bool WasSilent(const Process& process, const RecordEvent& wait) const;
  bool WasHeldUp(const RecordEvent& wait) const;
  // All others where no rank is said.
  std::vector<const Process*> OfRank(std::optional<int> rank,
                                     const Process& but) const;
  void Join(Process& process, const RecordEvent& event);

  // `until_ns`: when what the lost one meets is over.
  void Owe(const Process& lost, int64_t t_ns, int64_t until_ns);
  void OweSilence(const Process& silent, int64_t t_ns, int64_t until_ns);
  int64_t SoonNs() const;
  int64_t BoundOf(const Duty& duty, int64_t t_ns) const;
  // A worker that is done listens for heartbeats no more (kSilence).
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
  std::optional<int64_t> power_cut_ns_;  // of the machine
  Launcher launcher_;
  std::set<int> ended_launchers_;              // incarnations
  std::map<int, int64_t> launcher_killed_ns_;  // by a signal; by incarnation
  std::optional<int> starts_later_;  // a worker that no restart helps now
  int64_t save_ended_ns_ = -1;       // the last one
  int64_t last_ns_ = 0;              // of the history's event before
  bool store_deleted_ = false;
  std::map<uint64_t, int64_t> acknowledged_ns_;  // newest, by generation
  bool all_known_ = false;  // the launchers' events are there
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_PROCESSES_H_
