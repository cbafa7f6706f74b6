#include "harness/record/power_cut.h"

#include <set>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns "0-3, 5".
std::string RangesText(const std::set<int>& numbers) {
  std::string text;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int first = *at;
    int last = first;
    while (++at != numbers.end() && *at == last + 1) last = *at;
    if (!text.empty()) text += ", ";
    text += first == last ? fmt::format("{}", first)
                          : fmt::format("{}-{}", first, last);
  }
  return text;
}

}  // namespace

std::string ProcessesEndedBy(const Record& record, const RecordEvent& cut) {
  std::set<int> workers;
  bool is_launcher_ended = false;
  for (const RecordEvent& event : record.machine) {
    if (event.kind != RecordKind::kProcessEnded || event.t_ns != cut.t_ns ||
        event.reason != RecordReason::kSignal || !event.about) {
      continue;
    }
    if (*event.about == kLauncherWorker) {
      is_launcher_ended = true;
    } else {
      workers.insert(*event.about);
    }
  }
  std::string text = is_launcher_ended ? "the launcher" : "";
  if (workers.empty()) return text;
  return fmt::format("{}{}worker{} {}", text, text.empty() ? "" : ", ",
                     workers.size() == 1 ? "" : "s", RangesText(workers));
}

std::string HostsText(const RecordEvent& cut) {
  return cut.about ? fmt::format("the host of worker {}", *cut.about)
                   : "all hosts";
}

std::string PowerCutText(const Record& record, const RecordEvent& cut) {
  const std::string ended = ProcessesEndedBy(record, cut);
  return fmt::format("{} lose{} power{}{}", HostsText(cut),
                     cut.about ? "s" : "", ended.empty() ? "" : ", which ends ",
                     ended);
}

}  // namespace gauntlet
