// Names of faults in a sentence.
#ifndef GAUNTLET_HARNESS_RECORD_TEXT_NAMED_FAULTS_H_
#define GAUNTLET_HARNESS_RECORD_TEXT_NAMED_FAULTS_H_

#include <string>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

// Returns "fault c" or "faults a, b and c". REQUIRES: there is a fault.
std::string NamedFaults(const std::vector<const RecordFault*>& faults);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_TEXT_NAMED_FAULTS_H_
