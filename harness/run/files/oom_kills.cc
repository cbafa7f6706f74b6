#include "harness/run/files/oom_kills.h"

#include <algorithm>
#include <charconv>

#include "harness/run/files/text_file.h"

namespace gauntlet {

uint64_t CountOomKills() { return OomKillsIn(ReadTextFile("/proc/vmstat")); }

std::string_view RanOutIn(std::string_view log) {
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    if (line.starts_with(kRanOut) || line.find(kAllocatorRanOut) != line.npos) {
      return line;
    }
    log.remove_prefix(std::min(log.size(), line.size() + 1));
  }
  return "";
}

uint64_t OomKillsIn(std::string_view vmstat) {
  constexpr std::string_view kKey = "oom_kill ";
  for (size_t begin = 0; begin < vmstat.size();) {
    const size_t end = vmstat.find('\n', begin);
    const std::string_view line = vmstat.substr(begin, end - begin);
    if (line.starts_with(kKey)) {
      uint64_t count = 0;
      std::from_chars(line.data() + kKey.size(), line.data() + line.size(),
                      count);
      return count;
    }
    if (end == vmstat.npos) break;
    begin = end + 1;
  }
  return 0;
}

}  // namespace gauntlet
