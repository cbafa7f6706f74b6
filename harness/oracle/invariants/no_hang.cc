// no-hang: the run ends by itself, within its limits.
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {

void CheckNoHang(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  check.Instance();
  if (record.ending == RunEnding::kExited) return;
  check.Breach(RunEndingName(record.ending),
               record.ending_detail.empty() ? "the run did not end by itself"
                                            : record.ending_detail);
}

}  // namespace gauntlet
