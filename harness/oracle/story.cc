#include "harness/oracle/story.h"

#include <algorithm>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxLines = 12;

struct Line {
  int64_t t_ns = 0;
  std::string text;
};

std::string FiredText(const Record& record, const RecordEvent& event) {
  for (const RecordFault& fault : record.faults) {
    if (fault.id == event.detail) {
      return fmt::format("step {}  {}: {}", event.step, fault.id,
                         fault.summary);
    }
  }
  return fmt::format("step {}  {}", event.step, event.detail);
}

// "" for what is no part of the story.
std::string TextOf(const Record& record, const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kFaultFired:
      return FiredText(record, event);
    case RecordKind::kWorkerLost:
      return "noticed a loss: " + event.detail;
    case RecordKind::kResumed:
      return fmt::format("resumed from step {} ({})", event.step,
                         BaseName(event.path));
    case RecordKind::kLeft:
      return fmt::format("step {}  leaves generation {} to rejoin", event.step,
                         event.generation);
    case RecordKind::kCarriedOn:
      return fmt::format("carries on from step {} ({})", event.step,
                         event.detail);
    case RecordKind::kRejected:
      return fmt::format("rejected {}: {}", BaseName(event.path), event.detail);
    case RecordKind::kSaveFailed:
      return fmt::format("step {}  save failed: {}", event.step, event.detail);
    case RecordKind::kFencedOut:
      return "is fenced out by a newer generation";
    case RecordKind::kStopAgreed:
      return fmt::format("step {}  all agree to stop", event.step);
    default:
      return "";
  }
}

}  // namespace

std::vector<std::string> TellStory(const Evidence& evidence) {
  std::vector<Line> lines;
  for (const LifeEvents& life : evidence.record.lives) {
    for (const RecordEvent& event : life.events) {
      const std::string text = TextOf(evidence.record, event);
      if (text.empty()) continue;
      lines.push_back({event.t_ns, fmt::format("{}  {}", NameOf(life), text)});
    }
  }
  std::stable_sort(
      lines.begin(), lines.end(),
      [](const Line& a, const Line& b) { return a.t_ns < b.t_ns; });
  std::vector<std::string> story;
  for (const Line& line : lines) {
    if (story.size() == kMaxLines) {
      story.push_back(fmt::format("and {} more", lines.size() - kMaxLines));
      break;
    }
    story.push_back(line.text);
  }
  return story;
}

}  // namespace gauntlet
