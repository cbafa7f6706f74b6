// Disturbances: how long the effects of fired faults last.
#ifndef GAUNTLET_HARNESS_ORACLE_HISTORY_DISTURBANCES_H_
#define GAUNTLET_HARNESS_ORACLE_HISTORY_DISTURBANCES_H_

#include <cstdint>
#include <map>

#include "harness/oracle/history/history.h"
#include "harness/record/record.h"

namespace gauntlet {

class Disturbances {
 public:
  // Adds the effects of a fault that fired in the process.
  void Fired(const RecordFault& fault, const Emitter& in, int64_t t_ns);
  // Ends the effects that end with the process: its pauses, errors and failed
  // devices.
  void Ended(const Emitter& process, int64_t t_ns);
  // Returns true iff a fault was in effect at that time or later.
  bool AnySince(int64_t t_ns) const;

 private:
  // Time at which the last effect ends: per process, or for the whole machine
  // if the effect outlasts the process.
  std::map<Emitter, int64_t> until_ns_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_HISTORY_DISTURBANCES_H_
