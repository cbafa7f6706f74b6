#include "engine/real/storage/event_log_end.h"

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kEventLog = "event log: ";
constexpr std::string_view kItEndsHere = "; it ends here";

}  // namespace

std::string EventLogEndLine(const Status& failed) {
  return fmt::format("{}{}{}", kEventLog, failed.message(), kItEndsHere);
}

std::string_view FindEventLogEnd(std::string_view printed) {
  for (size_t begin = printed.find(kEventLog); begin != printed.npos;
       begin = printed.find(kEventLog, begin + 1)) {
    const std::string_view line =
        printed.substr(begin, printed.find('\n', begin) - begin);
    if (line.ends_with(kItEndsHere)) return line;
  }
  return "";
}

}  // namespace gauntlet
