#include "harness/bench/worker_probe.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "engine/real/posix/folder_entries.h"
#include "harness/run/files/text_file.h"
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

template <typename Number>
std::optional<Number> NumberAtFront(std::string_view text) {
  Number number{};
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

std::string ProcFile(pid_t pid, std::string_view name) {
  return ReadTextFile(fmt::format("/proc/{}/{}", pid, name));
}

// Returns the fields of /proc/PID/stat from the third on (proc(5)). The second,
// the name in parentheses, may contain spaces.
std::vector<std::string> StatFields(pid_t pid) {
  const std::string stat = ProcFile(pid, "stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == stat.npos) return {};
  std::istringstream rest(stat.substr(name_end + 1));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(field);
  return fields;
}
constexpr size_t kParent = 1;
constexpr size_t kUserTicks = 11;
constexpr size_t kSystemTicks = 12;

// Returns N of "--worker N" on the command line of the process.
std::optional<int> WorkerNumber(pid_t pid) {
  const std::string line = ProcFile(pid, "cmdline");
  using namespace std::string_view_literals;
  constexpr std::string_view kFlag = "\0--worker\0"sv;
  const size_t flag = line.find(kFlag);
  if (flag == line.npos) return std::nullopt;
  return NumberAtFront<int>(std::string_view(line).substr(flag + kFlag.size()));
}

}  // namespace

std::vector<WorkerPid> WorkersOf(pid_t launcher) {
  std::vector<WorkerPid> workers;
  for (const auto& entry : EntriesOf("/proc")) {
    const auto pid = NumberAtFront<pid_t>(entry.path().filename().string());
    if (!pid) continue;
    const std::vector<std::string> stat = StatFields(*pid);
    if (stat.size() <= kParent || stat[kParent] != std::to_string(launcher)) {
      continue;
    }
    if (const std::optional<int> worker = WorkerNumber(*pid)) {
      workers.push_back({.worker = *worker, .pid = *pid});
    }
  }
  std::ranges::sort(workers, {}, &WorkerPid::worker);
  return workers;
}

double CpuSecondsOf(pid_t pid) {
  const std::vector<std::string> stat = StatFields(pid);
  if (stat.size() <= kSystemTicks) return 0;
  const double ticks = NumberAtFront<double>(stat[kUserTicks]).value_or(0) +
                       NumberAtFront<double>(stat[kSystemTicks]).value_or(0);
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

uint64_t PeakMemoryOf(pid_t pid) {
  constexpr std::string_view kKey = "VmHWM:";
  const std::string status = ProcFile(pid, "status");
  const size_t key = status.find(kKey);
  if (key == status.npos) return 0;
  const size_t number = status.find_first_not_of(" \t", key + kKey.size());
  if (number == status.npos) return 0;
  return NumberAtFront<uint64_t>(std::string_view(status).substr(number))
             .value_or(0) *
         1024;
}

}  // namespace gauntlet
