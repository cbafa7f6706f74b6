#include "harness/record/text/named_faults.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {

std::string NamedFaults(const std::vector<const RecordFault*>& faults) {
  if (faults.size() == 1) return "fault " + faults.front()->id;
  std::vector<std::string_view> ids;
  for (const RecordFault* fault : faults) ids.push_back(fault->id);
  const std::string_view last = ids.back();
  ids.pop_back();
  return fmt::format("faults {} and {}", fmt::join(ids, ", "), last);
}

}  // namespace gauntlet
