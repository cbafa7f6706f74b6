// Ends of processes, as the machine or a launcher reports them.
#ifndef GAUNTLET_HARNESS_RECORD_REPORTED_ENDS_H_
#define GAUNTLET_HARNESS_RECORD_REPORTED_ENDS_H_

#include <map>
#include <utility>

#include "harness/record/record.h"

namespace gauntlet {

// Ends by worker and incarnation, as reported by the machine, or else by a
// launcher. The machine's reports of launchers' ends have no incarnation; they
// are in the order of the launchers' starts.
class ReportedEnds {
 public:
  // The record must outlive this object.
  explicit ReportedEnds(const Record& record);

  // Returns null if nothing reports the end.
  const RecordEvent* Of(const IncarnationEvents& incarnation) const;

 private:
  void Add(const RecordEvent& event);

  std::map<std::pair<int, int>, const RecordEvent*> ends_;
  int launchers_ended_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_REPORTED_ENDS_H_
