// no-orphans: no process that the run started is left behind.
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {

void CheckNoOrphans(const Evidence& evidence, Check& check) {
  const Leftovers& left = evidence.record.left;
  if (!left.processes_listed) return;
  check.Instance();
  for (const std::string& process : left.processes) {
    check.Breach("process", fmt::format("{} is still there", process));
  }
}

}  // namespace gauntlet
