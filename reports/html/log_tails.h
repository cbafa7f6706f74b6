// Last lines of the logs of a run's processes.
#ifndef GAUNTLET_REPORTS_HTML_LOG_TAILS_H_
#define GAUNTLET_REPORTS_HTML_LOG_TAILS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

struct LogTail {
  std::string name;    // the process: "worker 0, incarnation 2"
  uint64_t bytes = 0;  // size of the whole log
  std::string end;     // its last bytes
};

inline constexpr size_t kMostLogLines = 20;  // for one log
// Maximum number of bytes read from the end of a log.
inline constexpr size_t kMostLogBytes = 64 * 1024;

// Returns the last lines of each log as a <details> element, which also names
// the empty logs. Returns "" if there are no logs.
std::string RenderLogTails(const std::vector<LogTail>& logs);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_LOG_TAILS_H_
