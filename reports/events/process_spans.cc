#include "reports/events/process_spans.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/worker_exit_code.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include "harness/record/reported_ends.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the exit that the process itself recorded, or null.
const RecordEvent* OwnExit(const IncarnationEvents& incarnation) {
  const auto exit =
      std::ranges::find_if(incarnation.events, [](const RecordEvent& event) {
        return event.kind == RecordKind::kWorkerExited ||
               event.kind == RecordKind::kLauncherEnd;
      });
  return exit == incarnation.events.end() ? nullptr : &*exit;
}

ProcessSpan SpanOf(const IncarnationEvents& incarnation,
                   const RecordEvent* end) {
  if (incarnation.events.empty()) return {};
  ProcessSpan span = {.begin_ns = incarnation.events.front().t_ns,
                      .end_ns = incarnation.events.back().t_ns,
                      .end = ProcessEnd::kDeath,
                      .ending = "has no recorded exit"};
  if (end != nullptr) {
    span.ending = EndingText(*end);
    if (end->reason != RecordReason::kUnreachable) {
      span.end_ns = std::max(span.end_ns, end->t_ns);
    }
  }
  if (const RecordEvent* own = OwnExit(incarnation)) {
    span.end = IsOrderlyExit(own->count) ? ProcessEnd::kOrderly
                                         : ProcessEnd::kErrorCode;
    span.ending = fmt::format("exited with code {}", own->count);
  }
  return span;
}

// Returns the time at which the harness ended the run.
int64_t EndOfRun(const Record& record) {
  int64_t begin_ns = INT64_MAX;
  int64_t last_ns = 0;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (incarnation.events.empty()) continue;
    begin_ns = std::min(begin_ns, incarnation.events.front().t_ns);
    last_ns = std::max(last_ns, incarnation.events.back().t_ns);
  }
  if (begin_ns == INT64_MAX) return 0;
  const double seconds =
      record.virtual_seconds > 0 ? record.virtual_seconds : record.wall_seconds;
  return std::max<int64_t>(last_ns, begin_ns + std::llround(seconds * 1e9));
}

bool IsNewestIncarnation(const Record& record,
                         const IncarnationEvents& incarnation) {
  return std::ranges::none_of(
      record.incarnations, [&incarnation](const IncarnationEvents& other) {
        return other.worker == incarnation.worker &&
               other.number > incarnation.number && !other.events.empty();
      });
}

// Returns true iff the last event of the process is a fault that ends it.
bool IsEndedByFault(const Record& record,
                    const IncarnationEvents& incarnation) {
  const RecordEvent& last = incarnation.events.back();
  if (last.kind != RecordKind::kFaultFired &&
      last.kind != RecordKind::kFaultAgain) {
    return false;
  }
  const RecordFault* const fault = FindFault(record, last.detail);
  return fault != nullptr && TraitsOf(*fault).ends_incarnation;
}

// Reads the saves of one process from its events.
class SaveReader {
 public:
  SaveReader(const IncarnationEvents& incarnation, int64_t end_ns)
      : events_(incarnation.events), end_ns_(end_ns) {}

  std::vector<SaveSpan> Read() {
    for (size_t i = 0; i < events_.size(); ++i) ReadEvent(i);
    while (!open_.empty()) {
      Close(open_.begin()->first, std::nullopt, SaveSpan::State::kCutShort);
    }
    std::ranges::stable_sort(saves_, {}, &SaveSpan::end_ns);
    return std::move(saves_);
  }

 private:
  struct Open {
    size_t begin = 0;
    std::optional<size_t> left;  // first kLeft event since the save's begin
  };

  void ReadEvent(size_t i) {
    const uint64_t step = events_[i].step;
    switch (events_[i].kind) {
      case RecordKind::kSaveBegin:
        if (open_.contains(step)) Close(step, i, SaveSpan::State::kCutShort);
        open_[step] = {.begin = i};
        break;
      case RecordKind::kSaveAcknowledged:
        Close(step, i, SaveSpan::State::kCommitted);
        break;
      case RecordKind::kSaveFailed:
        Close(step, i, SaveSpan::State::kFailed);
        break;
      case RecordKind::kLeft:
        for (auto& [saved, open] : open_) open.left = open.left.value_or(i);
        break;
      default:
        break;
    }
  }

  void Close(uint64_t step, std::optional<size_t> end, SaveSpan::State state) {
    SaveSpan save = {.state = state, .step = step, .end = end};
    const auto open = open_.find(step);
    if (open != open_.end()) {
      save.begin = open->second.begin;
      if (state == SaveSpan::State::kCutShort && open->second.left) {
        save.end = open->second.left;
      }
      open_.erase(open);
    }
    save.end_ns = save.end ? events_[*save.end].t_ns : end_ns_;
    save.begin_ns = save.begin ? events_[*save.begin].t_ns : save.end_ns;
    saves_.push_back(save);
  }

  const std::vector<RecordEvent>& events_;
  const int64_t end_ns_;
  std::map<uint64_t, Open> open_;  // by step
  std::vector<SaveSpan> saves_;
};

}  // namespace

std::vector<ProcessSpan> ProcessSpansOf(const Record& record) {
  const ReportedEnds ends(record);
  std::vector<ProcessSpan> spans;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    const RecordEvent* const end = ends.Of(incarnation);
    spans.push_back(SpanOf(incarnation, end));
    const bool is_running = record.ending != RunEnding::kExited &&
                            !incarnation.events.empty() && end == nullptr &&
                            OwnExit(incarnation) == nullptr &&
                            IsNewestIncarnation(record, incarnation) &&
                            !IsEndedByFault(record, incarnation);
    if (!is_running) continue;
    spans.back().end = ProcessEnd::kRunning;
    spans.back().end_ns = EndOfRun(record);
    spans.back().ending = "still running when the run was ended";
  }
  return spans;
}

std::string EndingText(const RecordEvent& end) {
  constexpr int64_t kBySignal = 128;
  switch (end.reason) {
    case RecordReason::kSignal:
      return fmt::format("was killed by signal {}", end.count - kBySignal);
    case RecordReason::kUnreachable:
      return "is out of reach";
    case RecordReason::kNotStarted:
      return "could not be started";
    default:
      return fmt::format("exited with code {}", end.count);
  }
}

std::vector<SaveSpan> SavesOf(const IncarnationEvents& incarnation,
                              int64_t end_ns) {
  return SaveReader(incarnation, end_ns).Read();
}

}  // namespace gauntlet
