#include "reports/html/lanes.h"

#include <algorithm>

#include "reports/timeline.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// The machine's or a launcher's event about the end of the process.
const RecordEvent* EndOf(const Record& record, const LifeEvents& life) {
  const auto is_end = [&life](const RecordEvent& event) {
    return event.about == life.worker && event.incarnation == life.life;
  };
  for (const RecordEvent& event : record.machine) {
    if (event.kind == RecordKind::kProcessEnded && is_end(event)) return &event;
  }
  for (const LauncherRun& run : record.launchers) {
    for (const RecordEvent& event : run.events) {
      if (event.kind == RecordKind::kExited && is_end(event)) return &event;
    }
  }
  return nullptr;
}

std::string EndingText(const RecordEvent& end) {
  constexpr int64_t kBySignal = 128;
  switch (end.reason) {
    case RecordReason::kSignal:
      return fmt::format("killed by signal {}", end.count - kBySignal);
    case RecordReason::kUnreachable:
      return "out of reach";
    default:
      return fmt::format("exit code {}", end.count);
  }
}

Incarnation IncarnationOf(const Record& record, size_t index) {
  const LifeEvents& life = record.lives[index];
  const RecordEvent& last = life.events.back();
  Incarnation result = {.life = index,
                        .begin_ns = life.events.front().t_ns,
                        .end_ns = last.t_ns,
                        .ending = "no exit recorded"};
  result.died = std::ranges::none_of(life.events, [](const RecordEvent& event) {
    return event.kind == RecordKind::kLifeEnd ||
           event.kind == RecordKind::kLauncherEnd;
  });
  if (!result.died) result.ending = fmt::format("exit code {}", last.count);
  if (life.worker == kLauncherColumn) return result;
  if (const RecordEvent* end = EndOf(record, life)) {
    if (result.died) {
      result.end_ns = std::max(result.end_ns, end->t_ns);
      result.ending = EndingText(*end);
    }
  }
  return result;
}

bool IsGoodEnd(RecordReason reason) {
  return reason == RecordReason::kResult || reason == RecordReason::kWorkerDone;
}

}  // namespace

std::vector<Incarnation> IncarnationsOf(const Record& record) {
  std::vector<Incarnation> incarnations;
  for (size_t i = 0; i < record.lives.size(); ++i) {
    if (record.lives[i].events.empty()) continue;
    incarnations.push_back(IncarnationOf(record, i));
  }
  return incarnations;
}

std::vector<SaveInterval> SavesOf(const LifeEvents& life) {
  std::vector<SaveInterval> started;
  std::vector<SaveInterval> ended;
  const auto end = [&](const RecordEvent& event, SaveInterval::State state) {
    SaveInterval save = {.state = state,
                         .step = event.step,
                         .begin_ns = event.t_ns,
                         .end_ns = event.t_ns};
    const auto begin =
        std::ranges::find(started, event.step, &SaveInterval::step);
    if (begin != started.end()) {
      save.begin_ns = begin->begin_ns;
      started.erase(begin);
    }
    ended.push_back(save);
  };
  for (const RecordEvent& event : life.events) {
    if (event.kind == RecordKind::kSaveBegin) {
      started.push_back(
          {.step = event.step, .begin_ns = event.t_ns, .end_ns = event.t_ns});
    } else if (event.kind == RecordKind::kSaveAcknowledged) {
      end(event, SaveInterval::State::kCommitted);
    } else if (event.kind == RecordKind::kSaveFailed) {
      end(event, SaveInterval::State::kFailed);
    }
  }
  ended.insert(ended.end(), started.begin(), started.end());
  return ended;
}

std::optional<Mark> MarkOf(const LifeEvents& life, const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kFaultFired:
    case RecordKind::kDamaged:
      return Mark::kFault;
    case RecordKind::kNotice:
      return Mark::kNotice;
    case RecordKind::kWorkerLost:
    case RecordKind::kLeft:
    case RecordKind::kFencedOut:
    case RecordKind::kNotFinite:
    case RecordKind::kGaveUp:
      return Mark::kDetection;
    case RecordKind::kAttemptEnds:
      return IsGoodEnd(event.reason) ? std::optional<Mark>() : Mark::kDetection;
    case RecordKind::kSaveFailed:
    case RecordKind::kRejected:
    case RecordKind::kLoadFailed:
      return Mark::kRejected;
    case RecordKind::kRestarting:
      return Mark::kRestart;
    case RecordKind::kResumed:
    case RecordKind::kCarriedOn:
      return Mark::kResume;
    case RecordKind::kInitialized:
      return life.life > 1 ? std::optional<Mark>(Mark::kResume) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace gauntlet
