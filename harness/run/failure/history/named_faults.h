// Names of faults in a sentence.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_NAMED_FAULTS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_NAMED_FAULTS_H_

#include <string>
#include <vector>

#include "harness/oracle/history/outline.h"
#include "harness/record/record.h"

namespace gauntlet {

// Returns "fault c" or "faults a, b and c". REQUIRES: there is a fault.
std::string NamedFaults(const std::vector<const RecordFault*>& faults);

// Returns the faults of the record, each once, that have an occurrence which
// `is_wanted`.
template <typename Condition>
std::vector<const RecordFault*> FaultsWith(const Outline& outline,
                                           const Condition& is_wanted) {
  std::vector<const RecordFault*> faults;
  for (const RecordFault& fault : outline.record.faults) {
    for (const FaultOccurrence& occurrence : outline.occurrences) {
      if (occurrence.fault != &fault || !is_wanted(occurrence)) continue;
      faults.push_back(&fault);
      break;
    }
  }
  return faults;
}

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_NAMED_FAULTS_H_
