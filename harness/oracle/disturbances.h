// Disturbances: how long the effects of fired faults last.
#ifndef GAUNTLET_HARNESS_ORACLE_DISTURBANCES_H_
#define GAUNTLET_HARNESS_ORACLE_DISTURBANCES_H_

#include <cstdint>
#include <map>

#include "harness/oracle/history.h"
#include "harness/record/record.h"

namespace gauntlet {

class Disturbances {
 public:
  // The fault fired in the process.
  void Fired(const RecordFault& fault, const Emitter& in, int64_t t_ns);
  // The process is gone: its pauses, errors and lost devices are over.
  void Ended(const Emitter& process, int64_t t_ns);
  // Returns true iff a fault disturbed anything at that time or later.
  bool AnySince(int64_t t_ns) const;

 private:
  // By process; by the machine where a fault outlasts its process.
  std::map<Emitter, int64_t> until_ns_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_DISTURBANCES_H_
