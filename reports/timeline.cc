#include "reports/timeline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/epoch_text.h"
#include "engine/text/counted.h"
#include "engine/world/fault_point.h"
#include "harness/record/base_name.h"
#include "harness/record/text/repeated_texts.h"
#include "reports/events/causes.h"
#include "reports/events/event_text.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

// Returns true iff RoutineEvents::kFolded folds or leaves out events of the
// kind. Most of these kinds occur in undisturbed training.
bool IsRoutine(RecordKind kind) {
  switch (kind) {
    case RecordKind::kStep:
    case RecordKind::kEvaluated:
    case RecordKind::kEpochEnd:
    case RecordKind::kSaveBegin:
    case RecordKind::kSaveCopied:
    case RecordKind::kSaveAcknowledged:
    case RecordKind::kRetired:
    case RecordKind::kLoaded:
    case RecordKind::kResultAcknowledged:
    case RecordKind::kClaimBegin:
    case RecordKind::kRetireBegin:
    case RecordKind::kRejectBegin:
    case RecordKind::kDeleteBegin:
    case RecordKind::kLeaving:
    case RecordKind::kFaultAgain:
    case RecordKind::kFrameLate:
    case RecordKind::kSaveTimes:
    case RecordKind::kStartTimes:
      return true;
    default:
      return false;
  }
}

RowTone ToneOf(const IncarnationEvents& incarnation, const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kFaultFired:
    case RecordKind::kDamaged:
    case RecordKind::kPowerCut:
      return RowTone::kFault;
    case RecordKind::kWorkerLost:
    case RecordKind::kSaveFailed:
    case RecordKind::kRejected:
    case RecordKind::kLoadFailed:
    case RecordKind::kFencedOut:
    case RecordKind::kLeft:
    case RecordKind::kNotice:
    case RecordKind::kNotFinite:
    case RecordKind::kKillSent:
    case RecordKind::kAttemptEnds:
    case RecordKind::kGaveUp:
      return RowTone::kDetection;
    case RecordKind::kExited:
      return event.count == 0 ? RowTone::kPlain : RowTone::kDetection;
    case RecordKind::kRestarting:
      return RowTone::kRecovery;
    case RecordKind::kWorkerExited:
      return event.count == 0 ? RowTone::kPlain : RowTone::kDetection;
    case RecordKind::kWorkerStarted:
      return incarnation.number > 1 ? RowTone::kRecovery : RowTone::kPlain;
    case RecordKind::kResumed:
    case RecordKind::kResumedFromMemory:
      return RowTone::kRecovery;
    default:
      return IsRoutine(event.kind) ? RowTone::kRoutine : RowTone::kPlain;
  }
}

// Returns "3" or "3-7".
std::string RangeText(uint64_t first, uint64_t last) {
  return first == last ? fmt::format("{}", first)
                       : fmt::format("{}-{}", first, last);
}

// Returns true iff an event of the kind only measures a save or a start. Folded
// events leave it out.
bool IsMeasurement(RecordKind kind) {
  return kind == RecordKind::kSaveTimes || kind == RecordKind::kStartTimes;
}

// Returns true iff the text of folded events names an event of the kind.
bool IsNamedInRange(RecordKind kind) {
  return kind == RecordKind::kStep || kind == RecordKind::kSaveBegin ||
         kind == RecordKind::kSaveAcknowledged || kind == RecordKind::kRetired;
}

enum class SaveCommit : uint8_t { kRenamed, kNotRenamed };

// Consecutive routine events of one worker.
class RoutineRange {
 public:
  // `t_ns`: time since the first event of the run.
  void Add(const RecordEvent& event, int64_t t_ns, std::string text,
           SaveCommit commit) {
    if (events_++ == 0) first_text_ = std::move(text);
    if (event.step > 0) {
      first_step_ =
          first_step_ == 0 ? event.step : std::min(first_step_, event.step);
      last_step_ = std::max(last_step_, event.step);
    }
    switch (event.kind) {
      case RecordKind::kStep:
        if (steps_.empty() || event.step != steps_.back().second + 1) {
          steps_.emplace_back(event.step, event.step);
        }
        steps_.back().second = event.step;
        break;
      case RecordKind::kSaveBegin:
        begun_.emplace_back(event.step, t_ns);
        break;
      case RecordKind::kSaveAcknowledged:
        std::erase_if(begun_, [&event](const auto& save) {
          return save.first == event.step;
        });
        if (commit == SaveCommit::kNotRenamed) {
          not_renamed_.push_back(event.step);
          break;
        }
        // The end of an epoch may be saved twice, before and after its
        // evaluation.
        if (saved_.empty() || saved_.back() != event.step) {
          saved_.push_back(event.step);
        }
        break;
      case RecordKind::kRetired:
        if (const auto step = StepInName(BaseName(event.path));
            step && (deleted_.empty() || deleted_.back() != *step)) {
          deleted_.push_back(*step);
        }
        break;
      default:
        break;
    }
  }

  TimelineCell Cell(const IncarnationEvents& incarnation) const {
    return {.worker = incarnation.worker,
            .incarnation = incarnation.number,
            .kind = "routine",
            .first_step = first_step_,
            .last_step = last_step_,
            .events = events_,
            .text = Text()};
  }

 private:
  std::string Text() const {
    std::vector<std::string> parts;
    for (const auto& [first, last] : steps_) {
      parts.push_back(fmt::format("{} {}", first == last ? "step" : "steps",
                                  RangeText(first, last)));
    }
    if (!saved_.empty()) {
      parts.push_back(fmt::format("saved {}", fmt::join(saved_, ", ")));
    }
    if (!not_renamed_.empty()) {
      parts.push_back(fmt::format("acknowledged {} before its rename",
                                  fmt::join(not_renamed_, ", ")));
    }
    if (!deleted_.empty()) {
      parts.push_back(fmt::format("deleted {}", fmt::join(deleted_, ", ")));
    }
    for (const auto& [step, t_ns] : begun_) {
      parts.push_back(fmt::format("save of step {} begins at {}", step,
                                  TimeSinceBegin(t_ns)));
    }
    if (parts.empty()) return first_text_;
    return fmt::format("{}", fmt::join(parts, "; "));
  }

  size_t events_ = 0;
  std::string first_text_;
  uint64_t first_step_ = 0;
  uint64_t last_step_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> steps_;
  std::vector<std::pair<uint64_t, int64_t>> begun_;  // step, time
  std::vector<uint64_t> saved_;
  std::vector<uint64_t> not_renamed_;  // acknowledged, but not committed
  std::vector<uint64_t> deleted_;      // steps of checkpoints
};

// Position of a cell in a timeline.
struct CellPlace {
  size_t row = 0;
  size_t cell = 0;
};

// Returns the text with "steps 3" for "step 3", as other ranges have "steps".
std::string InPlural(std::string text) {
  if (text.starts_with("step ")) text.insert(4, "s");
  return text;
}

EventKey KeyOfCell(const TimelineCell& cell) {
  return {.emitter = std::to_string(cell.worker),
          .pattern = cell.kind + " " + InPlural(TextWithoutNumbers(cell.text))};
}

// Merges cells of repeated events of one worker.
TimelineCell MergedCell(const std::vector<TimelineRow>& rows,
                        const std::vector<CellPlace>& places) {
  const auto at = [&rows](const CellPlace& place) -> const TimelineCell& {
    return rows[place.row].cells[place.cell];
  };
  TimelineCell merged = at(places.front());
  merged.events = 0;
  std::vector<std::string> texts;
  for (const CellPlace& place : places) {
    const TimelineCell& cell = at(place);
    merged.events += cell.events;
    if (merged.first_step == 0 ||
        (cell.first_step > 0 && cell.first_step < merged.first_step)) {
      merged.first_step = cell.first_step;
    }
    merged.last_step = std::max(merged.last_step, cell.last_step);
    texts.push_back(places.size() == 1 ? cell.text : InPlural(cell.text));
  }
  merged.text = MergedText(texts) +
                RepetitionNote(places.size(), rows[places.back().row].until_ns);
  return merged;
}

// Moves the repeated events of each worker to the row of the first. For each
// emptied row, sets `moved_to` to the index of a row that has its events.
void MoveRepeatedEvents(std::vector<TimelineRow>& rows,
                        std::vector<size_t>& moved_to) {
  std::vector<CellPlace> places;
  std::vector<EventKey> keys;
  std::vector<TimelineRow> merged = rows;
  for (size_t row = 0; row < rows.size(); ++row) {
    merged[row].cells.clear();
    for (size_t cell = 0; cell < rows[row].cells.size(); ++cell) {
      places.push_back({row, cell});
      keys.push_back(KeyOfCell(rows[row].cells[cell]));
    }
  }
  for (const std::vector<size_t>& group : GroupRepeated(keys)) {
    std::vector<CellPlace> same;
    for (const size_t i : group) same.push_back(places[i]);
    TimelineRow& first = merged[same.front().row];
    first.cells.push_back(MergedCell(rows, same));
    first.until_ns = std::max(first.until_ns, rows[same.back().row].until_ns);
    for (const CellPlace& place : same) {
      // If the cells of a row move to several rows, the last cell decides.
      if (place.cell + 1 < rows[place.row].cells.size()) continue;
      moved_to[place.row] = same.front().row;
    }
  }
  rows = std::move(merged);
}

// Merges the repeated events of each worker, removes rows that become empty,
// and numbers the others anew.
void MergeRepeatedEvents(std::vector<TimelineRow>& rows) {
  std::vector<size_t> moved_to(rows.size());
  MoveRepeatedEvents(rows, moved_to);
  std::vector<size_t> new_numbers(rows.size() + 1);  // by number; 0: no row
  std::vector<TimelineRow> kept;
  for (size_t i = 0; i < rows.size(); ++i) {
    TimelineRow& row = rows[i];
    if (row.cells.empty()) {
      new_numbers[i + 1] = new_numbers[moved_to[i] + 1];
      continue;
    }
    new_numbers[i + 1] = kept.size() + 1;
    kept.push_back(std::move(row));
    kept.back().number = kept.size();
  }
  for (TimelineRow& row : kept) {
    for (TimelineCell& cell : row.cells) cell.cause = new_numbers[cell.cause];
  }
  rows = std::move(kept);
}

class TimelineBuilder {
 public:
  TimelineBuilder(const Record& record, const TimelineFilter& filter)
      : record_(record),
        filter_(filter),
        order_(EventsByTime(record)),
        causes_(CausesOf(record)) {
    if (!order_.empty()) begin_ns_ = EventAt(record, order_.front()).t_ns;
  }

  std::vector<TimelineRow> Rows() {
    for (const EventPlace& place : order_) {
      const IncarnationEvents& incarnation = IncarnationOf(record_, place);
      const RecordEvent& event = EventAt(record_, place);
      Advance(incarnation, event);
      if (!IsWanted(place)) continue;
      if (filter_.routine == RoutineEvents::kFolded) {
        const bool is_bad_load =
            event.kind == RecordKind::kLoaded && causes_.contains(place);
        if (!is_bad_load && IsCoveredByResumption(place)) continue;
        if (IsMeasurement(event.kind)) continue;
        if (!is_bad_load && IsRoutine(event.kind)) {
          Fold(place);
          continue;
        }
      }
      Flush();
      AddEvent(place);
    }
    Flush();
    if (filter_.routine == RoutineEvents::kFolded) MergeRepeatedEvents(rows_);
    return std::move(rows_);
  }

 private:
  struct OpenRange {
    RoutineRange range;
    size_t incarnation = 0;
  };

  int64_t SinceBegin(const RecordEvent& event) const {
    return event.t_ns - begin_ns_;
  }

  // Updates the step that the worker has reached. The launcher's step is the
  // one that any worker reached last.
  void Advance(const IncarnationEvents& incarnation, const RecordEvent& event) {
    uint64_t& reached = reached_[incarnation.worker];
    if (event.kind == RecordKind::kInitialized) reached = 0;
    if (event.step == 0 || incarnation.worker == kLauncherColumn) return;
    // A save may fail, or be acknowledged, at a later step than its own.
    const bool goes_back = event.kind == RecordKind::kLoaded ||
                           event.kind == RecordKind::kResumed ||
                           event.kind == RecordKind::kResumedFromMemory ||
                           event.kind == RecordKind::kStep;
    reached = goes_back ? event.step : std::max(reached, event.step);
    reached_[kLauncherColumn] = reached;
  }

  bool IsWanted(const EventPlace& place) const {
    const IncarnationEvents& incarnation = IncarnationOf(record_, place);
    const std::vector<int>& workers = filter_.workers;
    if (!workers.empty() &&
        std::ranges::find(workers, incarnation.worker) == workers.end()) {
      return false;
    }
    const auto is_before = [&](const TimelineBound& bound) {
      return Position(place, bound.unit) < bound.value;
    };
    const auto is_after = [&](const TimelineBound& bound) {
      return Position(place, bound.unit) > bound.value;
    };
    if (filter_.from && is_before(*filter_.from)) {
      return IsShownAsEffect(place, *filter_.from);
    }
    if (filter_.to && is_after(*filter_.to)) {
      return IsShownAsEffect(place, *filter_.to);
    }
    return true;
  }

  uint64_t Position(const EventPlace& place, TimelineBound::Unit unit) const {
    return unit == TimelineBound::Unit::kStep
               ? reached_.at(IncarnationOf(record_, place).worker)
               : static_cast<uint64_t>(SinceBegin(EventAt(record_, place)));
  }

  // Returns true iff an event outside the bound is shown because a shown event
  // led to it. A bound in time hides all events outside.
  bool IsShownAsEffect(const EventPlace& place,
                       const TimelineBound& bound) const {
    return bound.unit == TimelineBound::Unit::kStep && CauseOf(place, 0) != 0;
  }

  // Returns true iff the event loads the checkpoint that the worker then
  // resumes from; the text of the resumption names it.
  bool IsCoveredByResumption(const EventPlace& place) const {
    const auto& events = IncarnationOf(record_, place).events;
    const size_t next = place.index + 1;
    return events[place.index].kind == RecordKind::kLoaded &&
           next < events.size() && events[next].kind == RecordKind::kResumed &&
           events[next].step == events[place.index].step &&
           events[next].digest == events[place.index].digest;
  }

  // Returns kNotRenamed iff the event acknowledges a save whose process ended
  // at the fault point before the rename: it was acknowledged too early. Does
  // not compare steps: the fault's event has the step of the training, which
  // may be later than that of the save.
  SaveCommit CommitOf(const EventPlace& place) const {
    const auto& events = IncarnationOf(record_, place).events;
    if (events[place.index].kind != RecordKind::kSaveAcknowledged) {
      return SaveCommit::kRenamed;
    }
    const auto next =
        std::find_if(events.begin() + static_cast<std::ptrdiff_t>(place.index),
                     events.end(), [](const RecordEvent& event) {
                       return event.kind == RecordKind::kSaveBegin ||
                              (event.kind == RecordKind::kFaultFired &&
                               event.path == PointName(Point::kRename));
                     });
    const bool ends_there =
        next != events.end() &&
        std::all_of(next, events.end(), [](const RecordEvent& event) {
          return event.kind == RecordKind::kFaultFired ||
                 event.kind == RecordKind::kWorkerExited;
        });
    return ends_there ? SaveCommit::kNotRenamed : SaveCommit::kRenamed;
  }

  void Fold(const EventPlace& place) {
    const RecordEvent& event = EventAt(record_, place);
    const IncarnationEvents& incarnation = IncarnationOf(record_, place);
    const int64_t t_ns = SinceBegin(event);
    const bool is_first_named = IsNamedInRange(event.kind) && !any_is_named_;
    if (open_.empty() || is_first_named) open_since_ns_ = t_ns;
    any_is_named_ = any_is_named_ || is_first_named;
    open_until_ns_ = t_ns;
    OpenRange& open = open_[incarnation.worker];
    open.incarnation = place.incarnation;
    open.range.Add(event, t_ns, EventText(record_, incarnation, event),
                   CommitOf(place));
  }

  // Adds a row for the folded events.
  void Flush() {
    if (open_.empty()) return;
    TimelineRow& row = NewRow(open_since_ns_, RowTone::kRoutine);
    row.until_ns = open_until_ns_;
    for (const auto& [worker, open] : open_) {
      row.cells.push_back(
          open.range.Cell(record_.incarnations[open.incarnation]));
    }
    open_.clear();
    any_is_named_ = false;
    newest_kind_.reset();
  }

  TimelineRow& NewRow(int64_t t_ns, RowTone tone) {
    TimelineRow& row = rows_.emplace_back();
    row.number = rows_.size();
    row.t_ns = row.until_ns = t_ns;
    row.tone = tone;
    return row;
  }

  // Returns true iff the cell joins the newest row: workers with the same
  // consecutive event share a row.
  bool JoinsNewestRow(const TimelineCell& cell, RecordKind kind) const {
    if (filter_.routine == RoutineEvents::kListed || newest_kind_ != kind) {
      return false;
    }
    return std::ranges::all_of(
        rows_.back().cells, [&](const TimelineCell& other) {
          return other.worker != cell.worker && other.text == cell.text;
        });
  }

  void AddEvent(const EventPlace& place) {
    const IncarnationEvents& incarnation = IncarnationOf(record_, place);
    const RecordEvent& event = EventAt(record_, place);
    TimelineCell cell = {.worker = incarnation.worker,
                         .incarnation = incarnation.number,
                         .kind = std::string(RecordKindName(event.kind)),
                         .first_step = event.step,
                         .last_step = event.step,
                         .text = EventText(record_, incarnation, event)};
    if (!JoinsNewestRow(cell, event.kind)) {
      NewRow(SinceBegin(event), ToneOf(incarnation, event));
      newest_kind_ = event.kind;
    }
    TimelineRow& row = rows_.back();
    row.until_ns = SinceBegin(event);
    cell.cause = CauseOf(place, row.number);
    row.cells.insert(std::ranges::upper_bound(row.cells, cell.worker, {},
                                              &TimelineCell::worker),
                     std::move(cell));
    row_of_[place] = row.number;
  }

  // Returns the row of the event's cause. If the filter hides the cause,
  // returns the row of the cause's own cause, and so on. Returns 0 if there is
  // none, or only the event's own row.
  size_t CauseOf(EventPlace place, size_t own_row) const {
    for (auto cause = causes_.find(place); cause != causes_.end();
         cause = causes_.find(place)) {
      place = cause->second;
      const auto shown = row_of_.find(place);
      if (shown != row_of_.end()) {
        return shown->second == own_row ? 0 : shown->second;
      }
    }
    return 0;
  }

  const Record& record_;
  const TimelineFilter& filter_;
  const std::vector<EventPlace> order_;
  const std::map<EventPlace, EventPlace> causes_;
  int64_t begin_ns_ = 0;
  std::map<int, uint64_t> reached_;  // last step, by worker
  std::map<int, OpenRange> open_;    // folded events since the newest row
  bool any_is_named_ = false;        // in open_
  int64_t open_since_ns_ = 0;  // of the first named event, else of the first
  int64_t open_until_ns_ = 0;
  std::vector<TimelineRow> rows_;
  std::optional<RecordKind> newest_kind_;  // nullopt: folded events
  std::map<EventPlace, size_t> row_of_;
};

// Adds each power loss to the launcher that was running at the time.
void AddPowerCuts(Record& record) {
  for (const RecordEvent& event : record.machine) {
    if (event.kind != RecordKind::kPowerCut) continue;
    int running = 1;
    for (const IncarnationEvents& incarnation : record.incarnations) {
      if (incarnation.worker == kLauncherWorker &&
          !incarnation.events.empty() &&
          incarnation.events.front().t_ns <= event.t_ns) {
        running = std::max(running, incarnation.number);
      }
    }
    record.incarnations.push_back(
        {.worker = kLauncherWorker, .number = running, .events = {event}});
  }
}

std::string TitleOf(const Record& record) {
  std::string title = fmt::format(
      "{} ({}): {}", record.case_name, record.world,
      Counted(static_cast<uint64_t>(record.setup.workers), "worker"));
  if (!record.faults.empty()) {
    title += ", " + Counted(record.faults.size(), "fault");
  }
  for (const std::string& why : {record.skipped, record.harness_error}) {
    if (!why.empty()) title += "; not run: " + why;
  }
  return title;
}

std::vector<std::string> EndsOf(const Record& record) {
  std::vector<std::string> ends;
  for (const LauncherRun& run : record.launchers) {
    std::string line = "launcher";
    if (record.launchers.size() > 1) {
      line += fmt::format(", incarnation {},", ends.size() + 1);
    }
    line += fmt::format(" exits with {}", run.exit_code);
    if (run.restarts > 0) line += ", " + Counted(run.restarts, "restart");
    if (run.result) {
      line += fmt::format(", {}: {}, {}", run.result->status,
                          EpochsCompleted(run.result->epochs),
                          Counted(run.result->steps, "step"));
    }
    ends.push_back(std::move(line));
  }
  if (record.ending != RunEnding::kExited) {
    ends.push_back(fmt::format("the run {}: {}", RunEndingText(record.ending),
                               record.ending_detail));
  }
  return ends;
}

Json CellToJson(const TimelineCell& cell) {
  return {{"worker", cell.worker},
          {"incarnation", cell.incarnation},
          {"kind", cell.kind},
          {"first_step", cell.first_step},
          {"last_step", cell.last_step},
          {"events", cell.events},
          {"text", cell.text},
          {"caused_by", cell.cause > 0 ? Json(cell.cause) : Json()}};
}

}  // namespace

std::string EmitterName(int worker) {
  return worker == kLauncherColumn ? "launcher"
                                   : fmt::format("worker {}", worker);
}

size_t CountEvents(const Record& record) {
  size_t events = 0;
  for (const IncarnationEvents& incarnation : record.incarnations)
    events += incarnation.events.size();
  for (const LauncherRun& run : record.launchers) events += run.events.size();
  const auto cuts = std::ranges::count(record.machine, RecordKind::kPowerCut,
                                       &RecordEvent::kind);
  return events + static_cast<size_t>(cuts);
}

int64_t TimeOfEvents(const Record& stored) {
  const Record record = WithLaunchers(stored);
  const std::vector<EventPlace> order = EventsByTime(record);
  return order.empty() ? 0
                       : EventAt(record, order.back()).t_ns -
                             EventAt(record, order.front()).t_ns;
}

Timeline TimelineOf(const Record& stored, const TimelineFilter& filter) {
  Record record = WithLaunchers(stored);
  AddPowerCuts(record);
  Timeline timeline = {.title = TitleOf(record),
                       .columns = {},
                       .events = CountEvents(stored),
                       .rows = TimelineBuilder(record, filter).Rows(),
                       .ends = EndsOf(record)};
  std::set<int> columns(filter.workers.begin(), filter.workers.end());
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (filter.workers.empty()) columns.insert(incarnation.worker);
  }
  timeline.columns.assign(columns.begin(), columns.end());
  return timeline;
}

std::string TimelineToJson(const Timeline& timeline) {
  Json rows = Json::array();
  for (const TimelineRow& row : timeline.rows) {
    Json cells = Json::array();
    for (const TimelineCell& cell : row.cells) {
      cells.push_back(CellToJson(cell));
    }
    rows.push_back({{"row", row.number},
                    {"t_ns", row.t_ns},
                    {"until_ns", row.until_ns},
                    {"cells", std::move(cells)}});
  }
  const Json json = {{"schema", "gauntlet.timeline/v1"},
                     {"title", timeline.title},
                     {"rows", std::move(rows)},
                     {"ends", timeline.ends}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gauntlet
