// How launchers start a job again: as often as they may, as late as they said,
// and not where they were told to stop.
#ifndef GAUNTLET_HARNESS_ORACLE_RESTARTS_H_
#define GAUNTLET_HARNESS_ORACLE_RESTARTS_H_

#include <cstdint>
#include <optional>
#include <set>

#include "harness/oracle/check.h"
#include "harness/oracle/history.h"
#include "harness/record/record.h"

namespace gauntlet {

class Restarts {
 public:
  // Both outlive this.
  Restarts(const Record& record, Checks& checks);

  // In the order of the history.
  void On(const HistoryEvent& said);

 private:
  void CheckRestart(const RecordEvent& event);
  void CheckStart(const RecordEvent& event);
  void CheckGivesUp(const RecordEvent& event);
  void CheckPassedOn(const RecordEvent& event);

  const Record& record_;
  Checks& checks_;
  // Of the launcher that runs.
  int64_t count_ = 0;                          // restarts
  const RecordEvent* last_restart_ = nullptr;  // before anything starts again
  bool was_told_to_stop_ = false;
  bool attempt_has_ended_ = false;  // since then
  std::set<int> running_;           // workers
  std::set<int> to_ask_;            // those that are to be told, too
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_RESTARTS_H_
