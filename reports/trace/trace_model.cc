#include "reports/trace/trace_model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/epoch_text.h"
#include "harness/record/base_name.h"
#include "reports/events/event_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int64_t kMarkerNs = 1'000;

std::string_view CategoryOf(RecordKind kind) {
  switch (kind) {
    case RecordKind::kFaultFired:
    case RecordKind::kFaultAgain:
    case RecordKind::kDamaged:
    case RecordKind::kPowerCut:
    case RecordKind::kFrameLate:
      return "fault";
    case RecordKind::kNotice:
    case RecordKind::kAskedToStop:
    case RecordKind::kStopAgreed:
      return "notice";
    case RecordKind::kWorkerLost:
    case RecordKind::kLeft:
      return "loss";
    case RecordKind::kWorkerExited:
    case RecordKind::kExited:
    case RecordKind::kProcessEnded:
    case RecordKind::kKillSent:
    case RecordKind::kAttemptEnds:
    case RecordKind::kGaveUp:
    case RecordKind::kLauncherEnd:
      return "exit";
    case RecordKind::kFencedOut:
    case RecordKind::kFencedFound:
      return "fence";
    case RecordKind::kWorkerStarted:
    case RecordKind::kLauncherBegin:
    case RecordKind::kStarted:
    case RecordKind::kRestarting:
    case RecordKind::kStartTimes:
      return "start";
    case RecordKind::kResumed:
    case RecordKind::kResumedFromMemory:
    case RecordKind::kInitialized:
      return "resume";
    case RecordKind::kSaveFailed:
    case RecordKind::kSaveCopied:
    case RecordKind::kRejected:
    case RecordKind::kLoadFailed:
    case RecordKind::kRetireBegin:
    case RecordKind::kRejectBegin:
    case RecordKind::kDeleteBegin:
    case RecordKind::kSaveTimes:
      return "checkpoint";
    default:
      return "event";
  }
}

// Returns true iff events of the kind are shown only by slices.
bool IsShownBySlices(RecordKind kind) {
  switch (kind) {
    case RecordKind::kWorkerStarted:
    case RecordKind::kLauncherBegin:
    case RecordKind::kStep:
    case RecordKind::kEvaluated:
    case RecordKind::kEpochEnd:
    case RecordKind::kSaveBegin:
    case RecordKind::kSaveAcknowledged:
    case RecordKind::kLoaded:
    case RecordKind::kGeneration:
    case RecordKind::kRetired:
    case RecordKind::kBackupDeleted:
    // Each of these begins a slice, which ends with another event. If that
    // event is missing, an instant shows the begin.
    case RecordKind::kClaimBegin:
    case RecordKind::kRetireBegin:
    case RecordKind::kRejectBegin:
    case RecordKind::kDeleteBegin:
      return true;
    default:
      return false;
  }
}

// Adds the slices, instants and training positions of one process to the model.
class ProcessTracer {
 public:
  ProcessTracer(size_t incarnation, TraceModel& model)
      : model_(model),
        incarnation_(incarnation),
        events_(model.record.incarnations[incarnation].events),
        end_ns_(model.processes[incarnation].end_ns),
        saves_(SavesOf(model.record.incarnations[incarnation], end_ns_)) {}

  void Trace() {
    if (events_.empty()) return;
    TraceIncarnation();
    for (size_t i = 0; i < events_.size(); ++i) {
      now_ = i;
      if (IsIncident(Now().kind)) ++segment_;
      if (!IsShownBySlices(Now().kind)) AddInstant(i);
      TraceMembership();
      TraceTraining();
      TraceSaves(i);
      TraceCheckpoints();
      TraceLauncher();
    }
    now_ = events_.size() - 1;
    TraceSaves(std::nullopt);
    EndMembership(end_ns_);
    EndPauses();
  }

 private:
  // An operation in progress: the kind of the event that began it, and its
  // subject.
  using Operation = std::pair<RecordKind, std::string>;

  const RecordEvent& Now() const { return events_[now_]; }
  EventPlace PlaceOf(size_t index) const {
    return {.incarnation = incarnation_, .index = index};
  }

  TraceSlice& AddSlice(TraceTrack track, std::string_view category,
                       std::string name, TimeSpan span) {
    return model_.slices.emplace_back(TraceSlice{.event = PlaceOf(now_),
                                                 .track = track,
                                                 .category = category,
                                                 .name = std::move(name),
                                                 .span = span});
  }
  // Adds a slice of an operation that the end of the process or of its
  // generation cut short.
  void AddCutShort(TraceTrack track, std::string_view category,
                   const std::string& name, TimeSpan span) {
    AddSlice(track, category, name + " (cut short)", span).cut_short = true;
  }
  void AddInstant(size_t index) {
    model_.instants.push_back(
        {.event = PlaceOf(index), .category = CategoryOf(events_[index].kind)});
  }

  void TraceIncarnation() {
    const IncarnationEvents& incarnation =
        model_.record.incarnations[incarnation_];
    if (incarnation.worker == kMachineEmitter) return;
    const std::string_view noun =
        incarnation.worker == kLauncherWorker ? "launch" : "incarnation";
    AddSlice(TraceTrack::kControl, "incarnation",
             fmt::format("{} {}", noun, incarnation.number),
             {model_.processes[incarnation_].begin_ns, end_ns_});
  }

  // Adds claims and rendezvous.
  void TraceMembership() {
    const RecordEvent& now = Now();
    switch (now.kind) {
      case RecordKind::kWorkerStarted:
        rendezvous_ns_ = now.t_ns;
        break;
      case RecordKind::kLeft:
        EndMembership(now.t_ns);
        rendezvous_ns_ = now.t_ns;
        break;
      case RecordKind::kClaimBegin:
        Begin("");
        break;
      case RecordKind::kGeneration:
        if (const auto begin_ns = End({RecordKind::kClaimBegin, ""})) {
          AddSlice(TraceTrack::kCommunication, "claim",
                   fmt::format("claim of generation {}", now.generation),
                   {*begin_ns, now.t_ns});
        } else {
          AddInstant(now_);
        }
        break;
      case RecordKind::kResumed:
      case RecordKind::kInitialized:
      case RecordKind::kResumedFromMemory:
        if (rendezvous_ns_) {
          AddSlice(TraceTrack::kCommunication, "rendezvous",
                   fmt::format("rendezvous of generation {}", now.generation),
                   {*rendezvous_ns_, now.t_ns});
        }
        rendezvous_ns_.reset();
        break;
      default:
        break;
    }
  }

  // Adds steps, evaluations and epochs, each from the previous training event
  // on.
  void TraceTraining() {
    const RecordEvent& now = Now();
    switch (now.kind) {
      case RecordKind::kResumed:
      case RecordKind::kInitialized:
      case RecordKind::kResumedFromMemory:
        training_ns_ = epoch_ns_ = now.t_ns;
        epoch_has_steps_ = false;
        model_.positions.push_back({PlaceOf(now_)});
        break;
      case RecordKind::kStep: {
        TraceSlice& slice = AddSlice(TraceTrack::kCompute, "step",
                                     fmt::format("step {}", now.step), Take());
        slice.steps = 1;
        slice.first_step = now.step;
        slice.segment = segment_;
        epoch_ = now.epoch;
        epoch_has_steps_ = true;
        break;
      }
      case RecordKind::kEvaluated:
        AddSlice(TraceTrack::kCompute, "evaluation",
                 fmt::format("evaluation at step {}", now.step), Take());
        ++segment_;
        break;
      case RecordKind::kEpochEnd:
        AddSlice(TraceTrack::kCompute, "epoch", EpochName(now.epoch),
                 {epoch_ns_.value_or(Since()), now.t_ns});
        training_ns_ = epoch_ns_ = now.t_ns;
        epoch_has_steps_ = false;
        ++segment_;
        break;
      case RecordKind::kSaveAcknowledged:
      case RecordKind::kSaveFailed:
        // Training waits for a synchronous save.
        if (training_ns_ && !model_.record.setup.async_saves) {
          training_ns_ = now.t_ns;
        }
        break;
      default:
        break;
    }
  }

  // Returns the time of the previous training event, or else of the previous
  // event.
  int64_t Since() const {
    const size_t before = now_ == 0 ? 0 : now_ - 1;
    return training_ns_.value_or(events_[before].t_ns);
  }
  TimeSpan Take() {
    const TimeSpan span = {Since(), Now().t_ns};
    if (!epoch_ns_) epoch_ns_ = span.begin_ns;
    training_ns_ = span.end_ns;
    return span;
  }

  // Adds the saves that end at the event; nullopt: those that the end of the
  // process cuts short.
  void TraceSaves(std::optional<size_t> end) {
    for (const SaveSpan& save : saves_) {
      if (save.end != end) continue;
      if (!save.begin) {
        if (save.state == SaveSpan::State::kCommitted) AddInstant(*end);
        continue;
      }
      const std::string name = fmt::format("save of step {}", save.step);
      const TimeSpan span = {save.begin_ns, save.end_ns};
      if (save.state == SaveSpan::State::kCutShort) {
        AddCutShort(TraceTrack::kCheckpoint, "save", name, span);
        model_.slices.back().event = PlaceOf(*save.begin);
      } else {
        AddSlice(
            TraceTrack::kCheckpoint, "save",
            save.state == SaveSpan::State::kFailed ? name + " (failed)" : name,
            span);
      }
    }
  }

  void TraceCheckpoints() {
    const RecordEvent& now = Now();
    switch (now.kind) {
      case RecordKind::kLoaded:
      case RecordKind::kLoadFailed:
        AddLoad();
        break;
      case RecordKind::kRetireBegin:
      case RecordKind::kRejectBegin:
      case RecordKind::kDeleteBegin:
        Begin(now.path);
        break;
      case RecordKind::kRetired:
        EndRemoval({RecordKind::kRetireBegin, now.path}, "removal of");
        break;
      case RecordKind::kRejected:
        EndRemoval({RecordKind::kRejectBegin, now.path}, "rejection of");
        break;
      case RecordKind::kBackupDeleted:
        EndRemoval({RecordKind::kDeleteBegin, now.path}, "deletion of");
        break;
      default:
        break;
    }
  }

  // Adds a load that begins at the previous event, as the record has no begin
  // of loads.
  void AddLoad() {
    const bool failed = Now().kind == RecordKind::kLoadFailed;
    const int64_t begin_ns = events_[now_ == 0 ? 0 : now_ - 1].t_ns;
    AddSlice(TraceTrack::kCheckpoint, "load",
             fmt::format("load of {}{}", BaseName(Now().path),
                         failed ? " (failed)" : ""),
             {begin_ns, Now().t_ns});
  }

  void EndRemoval(const Operation& operation, std::string_view what) {
    if (const auto begin_ns = End(operation)) {
      AddSlice(TraceTrack::kCheckpoint, "removal",
               fmt::format("{} {}", what, BaseName(Now().path)),
               {*begin_ns, Now().t_ns});
    } else if (IsShownBySlices(Now().kind)) {
      AddInstant(now_);
    }
  }

  void Begin(std::string about) {
    const Operation operation = {Now().kind, std::move(about)};
    const auto open = open_.find(operation);
    // The end of the previous operation is unknown, so an instant shows its
    // begin.
    if (open != open_.end()) AddInstant(open->second);
    open_[operation] = now_;
  }
  // Ends the operation and returns its begin; nullopt if it is not in progress.
  std::optional<int64_t> End(const Operation& operation) {
    const auto open = open_.find(operation);
    if (open == open_.end()) return std::nullopt;
    const int64_t begin_ns = events_[open->second].t_ns;
    open_.erase(open);
    return begin_ns;
  }
  // Ends all operations when the worker leaves its generation or ends.
  void EndMembership(int64_t end_ns) {
    for (const auto& [operation, begin] : open_) AddInstant(begin);
    open_.clear();
    if (rendezvous_ns_) {
      AddCutShort(TraceTrack::kCommunication, "rendezvous", "rendezvous",
                  {*rendezvous_ns_, end_ns});
    }
    if (epoch_has_steps_ && epoch_ns_ && training_ns_) {
      AddCutShort(TraceTrack::kCompute, "epoch", EpochName(epoch_),
                  {*epoch_ns_, *training_ns_});
    }
    rendezvous_ns_.reset();
    training_ns_.reset();
    epoch_ns_.reset();
    epoch_has_steps_ = false;
  }

  // Notes the begin of a pause before a restart. At the start of a worker, adds
  // the pauses that end there: those for this worker, and those that name no
  // worker.
  void TraceLauncher() {
    const RecordEvent& now = Now();
    if (now.kind == RecordKind::kRestarting) pauses_.push_back(now_);
    if (now.kind != RecordKind::kStarted) return;
    std::erase_if(pauses_, [&](size_t begin) {
      const RecordEvent& pause = events_[begin];
      if (pause.about && pause.about != now.about) return false;
      AddPause(begin, now.t_ns);
      return true;
    });
  }
  // Ends the pauses whose worker never started: each took the announced time.
  void EndPauses() {
    for (const size_t begin : pauses_) {
      const RecordEvent& pause = events_[begin];
      AddPause(begin, std::min(pause.t_ns + pause.limit_ns, end_ns_));
    }
  }
  void AddPause(size_t begin, int64_t end_ns) {
    const RecordEvent& pause = events_[begin];
    AddSlice(TraceTrack::kControl, "restart",
             fmt::format("pause before restart {}", pause.count),
             {pause.t_ns, end_ns})
        .event = PlaceOf(begin);
  }

  TraceModel& model_;
  const size_t incarnation_;
  const std::vector<RecordEvent>& events_;
  const int64_t end_ns_;
  const std::vector<SaveSpan> saves_;
  size_t now_ = 0;
  size_t segment_ = 0;
  std::optional<int64_t> rendezvous_ns_;  // begin of the rendezvous in progress
  std::optional<int64_t> training_ns_;    // time of the previous training event
  std::optional<int64_t> epoch_ns_;       // begin of the epoch in progress
  uint64_t epoch_ = 0;
  bool epoch_has_steps_ = false;
  std::map<Operation, size_t> open_;
  std::vector<size_t> pauses_;  // kRestarting events
};

// Returns the event lists of all processes: workers, launchers, the machine.
std::vector<std::vector<RecordEvent>*> EventListsOf(Record& record) {
  std::vector<std::vector<RecordEvent>*> lists = {&record.machine};
  for (IncarnationEvents& incarnation : record.incarnations)
    lists.push_back(&incarnation.events);
  for (LauncherRun& run : record.launchers) lists.push_back(&run.events);
  return lists;
}

// Changes the times to count from the first event and to never decrease within
// a process. Returns the time of the first event.
int64_t CountTimesFromTheFirst(Record& record) {
  std::optional<int64_t> first_ns;
  for (const auto* events : EventListsOf(record)) {
    for (const RecordEvent& event : *events) {
      first_ns = std::min(first_ns.value_or(event.t_ns), event.t_ns);
    }
  }
  for (auto* events : EventListsOf(record)) {
    int64_t last_ns = 0;
    for (RecordEvent& event : *events) {
      last_ns = std::max(last_ns, event.t_ns - *first_ns);
      event.t_ns = last_ns;
    }
  }
  return first_ns.value_or(0);
}

void AddArrows(TraceModel& model) {
  std::set<EventPlace> marked;
  for (const auto& [effect, cause] : CausesOf(model.record)) {
    model.arrows.push_back({.cause = cause, .effect = effect});
    marked.insert({cause, effect});
  }
  size_t order = 0;
  for (const EventPlace& place : EventsByTime(model.record)) {
    ++order;
    if (!marked.contains(place)) continue;
    const RecordEvent& event = EventAt(model.record, place);
    model.slices.push_back(
        {.event = place,
         .track = TraceTrack::kControl,
         .category = CategoryOf(event.kind),
         .name =
             EventText(model.record, IncarnationOf(model.record, place), event),
         .span = {event.t_ns, event.t_ns + kMarkerNs},
         .is_marker = true,
         .order = order});
  }
}

}  // namespace

std::string_view TraceTrackName(TraceTrack track) {
  switch (track) {
    case TraceTrack::kCompute:
      return "compute";
    case TraceTrack::kCommunication:
      return "communication";
    case TraceTrack::kCheckpoint:
      return "checkpoint";
    case TraceTrack::kControl:
      return "control";
  }
  return "";
}

bool IsIncident(RecordKind kind) {
  switch (kind) {
    case RecordKind::kFaultAgain:
    case RecordKind::kFrameLate:
    case RecordKind::kSaveCopied:
    case RecordKind::kSaveTimes:
    case RecordKind::kStartTimes:
    case RecordKind::kResultAcknowledged:
      return false;
    default:
      return !IsShownBySlices(kind);
  }
}

TraceModel TraceModelOf(const Record& record) {
  Record counted = record;
  TraceModel model;
  model.first_event_ns = CountTimesFromTheFirst(counted);
  model.record = WithLaunchers(counted);
  model.record.incarnations.push_back(
      {.worker = kMachineEmitter, .events = counted.machine});
  model.processes = ProcessSpansOf(model.record);
  for (size_t incarnation = 0; incarnation < model.record.incarnations.size();
       ++incarnation) {
    ProcessTracer(incarnation, model).Trace();
  }
  AddArrows(model);
  return model;
}

}  // namespace gauntlet
