// The specification: checks the history of a run, event by event.
//
// Reads the history once. Each event is checked against the state so far (of
// the store, of training, of processes), and then changes that state. A fault
// that fired is an event too: it changes the requirements on the run. Nothing
// else excuses a deviation.
#ifndef GAUNTLET_HARNESS_ORACLE_SPECIFICATION_H_
#define GAUNTLET_HARNESS_ORACLE_SPECIFICATION_H_

#include <vector>

#include "harness/oracle/history/check.h"
#include "harness/oracle/history/history.h"
#include "harness/oracle/model/store_model.h"
#include "harness/oracle/model/training_model.h"
#include "harness/oracle/process/notices.h"
#include "harness/oracle/process/processes.h"
#include "harness/oracle/process/restarts.h"
#include "harness/record/record.h"

namespace gauntlet {

class Specification {
 public:
  // The record must outlive this object.
  explicit Specification(const Record& record);

  // Checks the record's history. Call once.
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
