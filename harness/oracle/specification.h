// What a run owes, event by event: the one judge of every record.
//
// The history is gone through once. Each event changes what is so (in the
// store, in training, of processes) and is held against what was so before.
// What a fault did is part of the history, too: it changes what is owed. There
// are no other excuses.
#ifndef GAUNTLET_HARNESS_ORACLE_SPECIFICATION_H_
#define GAUNTLET_HARNESS_ORACLE_SPECIFICATION_H_

#include <vector>

#include "harness/oracle/check.h"
#include "harness/oracle/history.h"
#include "harness/oracle/notices.h"
#include "harness/oracle/processes.h"
#include "harness/oracle/restarts.h"
#include "harness/oracle/store_model.h"
#include "harness/oracle/training_model.h"
#include "harness/record/record.h"

namespace gauntlet {

class Specification {
 public:
  // The record outlives this.
  explicit Specification(const Record& record);

  // Goes through the record's history, once.
  void Run(const std::vector<HistoryEvent>& history);
  const Checks& checks() const { return checks_; }
  Checks& checks() { return checks_; }

 private:
  void CheckEnd();
  void CheckLaunchers();
  bool IsKilledByAFault(size_t launcher) const;
  void CheckAccount(const LauncherRun& launcher, const RecordEvent* ended);

  const Record& record_;
  Checks checks_;
  StoreModel store_;
  TrainingModel training_;
  Notices notices_;
  Restarts restarts_;
  Processes processes_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_SPECIFICATION_H_
