// Preemption notices: after each, all workers agree on a step to stop at, save
// it, and exit within the grace period.
#ifndef GAUNTLET_HARNESS_ORACLE_PROCESS_NOTICES_H_
#define GAUNTLET_HARNESS_ORACLE_PROCESS_NOTICES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "harness/oracle/history/check.h"
#include "harness/oracle/history/history.h"
#include "harness/record/record.h"

namespace gauntlet {

class Notices {
 public:
  // Both must outlive this object.
  Notices(const Record& record, Checks& checks);

  // Processes the next event. REQUIRES: events come in the order of the
  // history.
  void On(const HistoryEvent& emitted);
  // Checks which notices are still unanswered. Called after the last event.
  void End();

 private:
  struct Worker {
    uint64_t generation = 0;
    uint64_t step = 0;  // last finished step
    // Last finished step when the worker reported a notice (noticed_at), and
    // when a signal was sent to the worker (delivered_at). delivered_at is set
    // only until the worker reports the signal.
    std::optional<uint64_t> noticed_at;
    std::optional<uint64_t> delivered_at;
    bool stops = false;      // has agreed to stop
    bool is_gone = false;    // has lost other workers, or is leaving
    bool has_ended = false;  // its process has ended
    bool has_model = false;  // has initialized or resumed
    bool finished = false;
    // A fault other than a notice kills the process from this time on.
    std::optional<int64_t> killed_from_ns;
    bool is_hindered = false;             // by a fault that may lead to a kill
    bool kill_sent = false;               // by the launcher
    const RecordFault* notice = nullptr;  // fault that sent a notice
    int64_t notice_ns = 0;
    std::optional<int64_t> grace_until_ns;  // by the engine's own setting
    uint64_t steps_over = 0;                // trained after grace_until_ns
  };
  // The agreement of a generation to stop.
  struct Stop {
    uint64_t step = 0;
    bool saved = false;
    bool given_up = false;  // the save failed in all attempts
  };

  void OnWorker(const HistoryEvent& emitted);
  void ForgetGeneration(uint64_t number);
  void NoteEnd(const RecordEvent& event);
  void Fire(Worker& worker, const RecordEvent& event);
  void NoteKill(Worker& worker, const RecordFault& fault, int64_t t_ns);
  void OnLauncher(const RecordEvent& event);
  void CheckCause(const Emitter& by, const Worker& worker);
  void CheckSees(const Emitter& by, Worker& worker);
  void BeginGrace(Worker& worker, int64_t t_ns) const;
  void CheckInGrace(const Emitter& by, Worker& worker,
                    const RecordEvent& event);
  void CheckHeeds(const Worker& worker, const RecordEvent& event);
  void CheckEnd(const Emitter& by, Worker& worker, const RecordEvent& event);
  void CheckStop(const Emitter& by, const Worker& worker);

  const Record& record_;
  Checks& checks_;
  std::map<Emitter, Worker> workers_;
  std::map<uint64_t, Stop> stops_;  // by generation
  bool has_store_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_PROCESS_NOTICES_H_
