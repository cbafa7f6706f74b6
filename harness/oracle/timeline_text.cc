#include "harness/oracle/timeline_text.h"

#include <algorithm>
#include <utility>

#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include "harness/record/power_cut.h"
#include "harness/record/reported_ends.h"
#include "harness/record/text/error_text.h"
#include "harness/record/text/repeated_texts.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Numbers of lines that are kept at the beginning and at the end of a long
// timeline.
constexpr size_t kFirstLines = 8;
constexpr size_t kLastLines = 4;

struct TimedLine {
  int64_t t_ns = 0;
  EventKey key;
  std::string text;
};

constexpr int64_t kStoppedOnNotice = 143;

// Returns true iff the worker exits with an error that the timeline does not
// explain yet: since its last step, the worker has reported neither a lost
// worker nor a newer generation.
bool IsFailure(const IncarnationEvents& incarnation, const RecordEvent& exit) {
  if (exit.count == 0 || exit.count == kStoppedOnNotice) return false;
  for (auto event = incarnation.events.rbegin();
       event != incarnation.events.rend(); ++event) {
    if (event->kind == RecordKind::kWorkerLost ||
        event->kind == RecordKind::kFencedOut) {
      return false;
    }
    if (event->kind == RecordKind::kStep) break;
  }
  return true;
}

bool IsOnTimeline(const IncarnationEvents& incarnation,
                  const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kFaultFired:
    case RecordKind::kWorkerLost:
    case RecordKind::kResumed:
    case RecordKind::kLeft:
    case RecordKind::kResumedFromMemory:
    case RecordKind::kRejected:
    case RecordKind::kSaveFailed:
    case RecordKind::kFencedOut:
    case RecordKind::kStopAgreed:
      return true;
    case RecordKind::kInitialized:
      return incarnation.number > 1;
    case RecordKind::kWorkerExited:
      return IsFailure(incarnation, event);
    default:
      return false;
  }
}

std::string FiredText(const Record& record,
                      const IncarnationEvents& incarnation,
                      const RecordEvent& event) {
  const std::string in_save = SaveOfFaultText(record, event);
  const std::string place =
      in_save.empty() ? fmt::format("step {}", event.step) : in_save;
  const std::string times = TimesFiredText(record, incarnation, event.detail);
  const RecordFault* const fault = FindFault(record, event.detail);
  return fault == nullptr ? fmt::format("{}  {}{}", place, event.detail, times)
                          : fmt::format("{}  {}: {}{}", place, fault->id,
                                        fault->summary, times);
}

// Returns "step-000000005-g1, generation 1"; the name alone if it has no
// generation.
std::string CheckpointText(std::string_view path) {
  const std::string_view name = BaseName(path);
  const size_t mark = name.rfind("-g");
  if (mark == name.npos) return std::string(name);
  return fmt::format("{}, generation {}", name, name.substr(mark + 2));
}

std::string LossText(const RecordEvent& event) {
  return fmt::format(
      "lost {}: {}{}",
      event.about ? fmt::format("rank {}", *event.about) : "another rank",
      RecordReasonName(event.reason),
      event.detail.empty() ? "" : " (" + event.detail + ")");
}

// Returns the error of a failed save or of an exit, without the disk space that
// the error reports. `gauntlet show` prints that.
std::string ErrorText(const RecordEvent& event) {
  return WithoutDiskRoom(ShortError(event.detail));
}

// REQUIRES: `incarnation` emitted the event, and IsOnTimeline(incarnation,
// event).
std::string TextOf(const Record& record, const IncarnationEvents& incarnation,
                   const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kFaultFired:
      return FiredText(record, incarnation, event);
    case RecordKind::kWorkerLost:
      return LossText(event);
    case RecordKind::kResumed:
      return fmt::format("resumed from step {} ({})", event.step,
                         CheckpointText(event.path));
    case RecordKind::kInitialized:
      return "starts from scratch";
    case RecordKind::kLeft:
      return fmt::format("step {}  leaves generation {} to rejoin", event.step,
                         event.generation);
    case RecordKind::kResumedFromMemory:
      return fmt::format("resumes from memory at step {} ({})", event.step,
                         event.detail);
    case RecordKind::kRejected:
      return fmt::format("rejected {}: {}", BaseName(event.path), event.detail);
    case RecordKind::kSaveFailed:
      return fmt::format("step {}  save failed: {}", event.step,
                         ErrorText(event));
    case RecordKind::kFencedOut:
      return "is superseded by a newer generation";
    case RecordKind::kStopAgreed:
      return fmt::format("step {}  all agree to stop", event.step);
    case RecordKind::kWorkerExited:
      return fmt::format("exits with {}{}", event.count,
                         event.detail.empty() ? "" : ": " + ErrorText(event));
    default:
      return "";
  }
}

void AddPowerCuts(const Record& record, std::vector<TimedLine>& all) {
  for (const RecordEvent& event : record.machine) {
    if (event.kind != RecordKind::kPowerCut) continue;
    all.push_back(
        {event.t_ns, {event.path, "loses power"}, PowerCutText(record, event)});
  }
}

// Adds the kills at the end of grace periods. Each line has the time at which
// the grace period ends. The launcher may observe the kill later, after the
// ends of other workers.
void AddKillsAfterNotices(const Outline& outline, std::vector<TimedLine>& all) {
  const ReportedEnds ends(outline.record);
  for (const FaultOccurrence& notice : outline.occurrences) {
    if (!GivesNotice(*notice.fault)) continue;
    const int64_t over_ns = notice.event().t_ns + notice.fault->grace_ns;
    const RecordEvent* const end = ends.Of(*notice.incarnation);
    const bool is_killed = end != nullptr && end->t_ns >= over_ns &&
                           end->reason == RecordReason::kSignal;
    if (!is_killed) continue;
    all.push_back(
        {over_ns,
         {std::to_string(notice.incarnation->worker), "killed after a notice"},
         fmt::format("{}  killed at the end of the grace period of fault {}",
                     NameOf(*notice.incarnation), notice.fault->id)});
  }
}

void AddLaterLaunches(const Record& record, std::vector<TimedLine>& all) {
  for (size_t i = 1; i < record.launchers.size(); ++i) {
    const LauncherRun& run = record.launchers[i];
    if (run.events.empty()) continue;
    const bool is_requeue = IsRequeue(record.launchers[i - 1], run);
    all.push_back(
        {run.events.front().t_ns,
         {"launcher", is_requeue ? "requeue" : "launch"},
         is_requeue
             ? "launcher  is started again, as a scheduler requeues a job"
             : fmt::format("launcher  is started again, as planned (entry {} "
                           "of launches)",
                           run.planned + 1)});
  }
}

// A line for one event, or for several similar events.
struct MergedLine {
  std::string text;
  size_t events = 1;
};

// Returns the time of the first event of the run.
int64_t BeginOf(const Record& record) {
  int64_t begin_ns = INT64_MAX;
  const auto note = [&begin_ns](const std::vector<RecordEvent>& events) {
    for (const RecordEvent& event : events) {
      begin_ns = std::min(begin_ns, event.t_ns);
    }
  };
  for (const IncarnationEvents& incarnation : record.incarnations)
    note(incarnation.events);
  for (const LauncherRun& run : record.launchers) note(run.events);
  return begin_ns;
}

std::vector<MergedLine> MergedLines(const std::vector<TimedLine>& all,
                                    int64_t begin_ns) {
  std::vector<EventKey> keys;
  for (const TimedLine& line : all) keys.push_back(line.key);
  std::vector<MergedLine> lines;
  for (const std::vector<size_t>& group : GroupRepeated(keys)) {
    std::vector<std::string> texts;
    for (const size_t i : group) texts.push_back(all[i].text);
    const int64_t until_ns = all[group.back()].t_ns - begin_ns;
    lines.push_back(
        {.text = MergedText(texts) + RepetitionNote(group.size(), until_ns),
         .events = group.size()});
  }
  return lines;
}

// Returns the first and the last lines, and between them the number of events
// that are left out.
std::vector<std::string> Shortened(const std::vector<MergedLine>& all) {
  const bool is_long = all.size() > kFirstLines + kLastLines + 1;
  std::vector<std::string> lines;
  size_t left_out = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_at_end = i + kLastLines >= all.size();
    if (is_long && i >= kFirstLines && !is_at_end) {
      left_out += all[i].events;
      continue;
    }
    if (left_out > 0) {
      lines.push_back(fmt::format(
          "({} events are left out here; gauntlet show prints all)", left_out));
      left_out = 0;
    }
    lines.push_back(all[i].text);
  }
  return lines;
}

}  // namespace

std::vector<std::string> TimelineText(const Outline& outline) {
  const Record& record = outline.record;
  std::vector<TimedLine> all;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (!IsOnTimeline(incarnation, event)) continue;
      const std::string text = TextOf(record, incarnation, event);
      all.push_back({event.t_ns,
                     {std::to_string(incarnation.worker),
                      fmt::format("{} {} {}", RecordKindName(event.kind),
                                  RecordReasonName(event.reason),
                                  TextWithoutNumbers(text))},
                     NameOf(incarnation) + "  " + text});
    }
  }
  AddPowerCuts(record, all);
  AddKillsAfterNotices(outline, all);
  AddLaterLaunches(record, all);
  std::ranges::stable_sort(all, {}, &TimedLine::t_ns);
  return Shortened(MergedLines(all, BeginOf(record)));
}

}  // namespace gauntlet
