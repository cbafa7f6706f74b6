// Checks restarts by launchers: there are not more than the budget allows, the
// pause before each is long enough, and none follows a preemption notice.
#ifndef GAUNTLET_HARNESS_ORACLE_PROCESS_RESTARTS_H_
#define GAUNTLET_HARNESS_ORACLE_PROCESS_RESTARTS_H_

#include <cstdint>
#include <optional>
#include <set>

#include "harness/oracle/history/check.h"
#include "harness/oracle/history/history.h"
#include "harness/record/record.h"

namespace gauntlet {

class Restarts {
 public:
  // Both must outlive this object.
  Restarts(const Record& record, Checks& checks);

  // Processes the next event. REQUIRES: events come in the order of the
  // history.
  void On(const HistoryEvent& emitted);

 private:
  void CheckRestart(const RecordEvent& event);
  void CheckStart(const RecordEvent& event);
  void CheckGivesUp(const RecordEvent& event);
  void CheckPassedOn(const RecordEvent& event);

  const Record& record_;
  Checks& checks_;
  // State of the running launcher.
  int64_t count_ = 0;                          // restarts so far
  const RecordEvent* last_restart_ = nullptr;  // null once a worker has started
  bool stop_requested_ = false;                // has received a notice
  bool attempt_has_ended_ = false;             // since the notice
  std::set<int> running_;                      // workers
  std::set<int> to_ask_;  // workers that must still be sent the notice
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_PROCESS_RESTARTS_H_
