// Termination notices: each leads all workers to one agreed step, a save of it,
// and out, within the grace period.
#ifndef GAUNTLET_HARNESS_ORACLE_NOTICES_H_
#define GAUNTLET_HARNESS_ORACLE_NOTICES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "harness/oracle/check.h"
#include "harness/oracle/history.h"
#include "harness/record/record.h"

namespace gauntlet {

class Notices {
 public:
  // Both outlive this.
  Notices(const Record& record, Checks& checks);

  // In the order of the history.
  void On(const HistoryEvent& said);
  // After the last one.
  void End();

 private:
  struct Worker {
    uint64_t generation = 0;
    uint64_t step = 0;                   // the last that it finished
    std::optional<uint64_t> noticed_at;  // the step that it was in
    std::optional<uint64_t> told_at;     // by a signal that it has not seen
    bool stops = false;                  // has agreed to
        bool is_gone = false;                // has lost others, or is leaving
    bool has_ended = false;              // its process

    bool finished = false;
    const RecordFault* notice = nullptr;
    int64_t notice_ns = 0;
    std::optional<int64_t> grace_until_ns;  // as the engine was told
    uint64_t steps_over = 0;                // trained behind that
  };
  struct Stop {
    uint64_t step = 0;
    bool saved = false;
    bool given_up = false;  // the save, after all tries
  };

    void OnWorker(const HistoryEvent& said);
  void ForgetGeneration(uint64_t number);
  void NoteEnd(const RecordEvent& event);
  void Fire(Worker& worker, const RecordEvent& event);
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

#endif  // GAUNTLET_HARNESS_ORACLE_NOTICES_H_
