#include "harness/run/failure/history/endless_faults.h"

#include <algorithm>

#include "harness/record/fault_traits.h"

namespace gauntlet {

std::vector<const RecordFault*> EndlessFaults(
    const Record& record, const std::vector<Interruption>& all) {
  if (const RecordFault* const fault = EndlessFault(record, all))
    return {fault};
  std::vector<const RecordFault*> faults;
  for (const RecordFault& fault : record.faults) {
    const auto ended = std::ranges::count_if(all, [&](const Interruption& one) {
      return one.faults.contains(&fault);
    });
    if (RepeatsWithoutEnd(fault) && TraitsOf(fault).DoesMoreThanDelay() &&
        ended > 1) {
      faults.push_back(&fault);
    }
  }
  const auto is_by_one = [&](const Interruption& one) {
    return std::ranges::any_of(faults, [&one](const RecordFault* fault) {
      return one.faults.contains(fault);
    });
  };
  const auto first = std::ranges::find_if(all, is_by_one);
  if (!std::all_of(first, all.end(), is_by_one)) return {};
  return faults;
}

}  // namespace gauntlet
