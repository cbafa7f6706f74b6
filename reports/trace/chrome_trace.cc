#include "reports/trace/chrome_trace.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/events/event_text.h"
#include "reports/trace/trace_model.h"
#include "reports/trace/trace_threads.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

// Returns a float32 as its shortest decimal. Infinity and NaN, which JSON does
// not have, become text.
Json DecimalOf(uint32_t bits) {
  const std::string text = fmt::format("{}", std::bit_cast<float>(bits));
  if (!std::isfinite(std::bit_cast<float>(bits))) return text;
  return std::stod(text);
}

// Returns the time in microseconds, rounded up. Viewers multiply it by 1000 and
// truncate; the result must not be less than `ns`.
double Microseconds(int64_t ns) {
  double us = static_cast<double>(ns) / 1e3;
  while (static_cast<int64_t>(us * 1e3) < ns) {
    us = std::nextafter(us, std::numeric_limits<double>::infinity());
  }
  return us;
}

bool HasLoss(RecordKind kind) {
  return kind == RecordKind::kStep || kind == RecordKind::kEvaluated ||
         kind == RecordKind::kEpochEnd || kind == RecordKind::kNotFinite;
}

// Returns the fields that the event sets, except the samples.
Json ArgumentsOf(const IncarnationEvents& incarnation,
                 const RecordEvent& event) {
  Json args = {{"event", RecordKindName(event.kind)}};
  if (incarnation.worker >= 0) args["incarnation"] = incarnation.number;
  const auto add = [&args](const char* key, const auto& value) {
    if (value != std::decay_t<decltype(value)>{}) args[key] = value;
  };
  add("generation", event.generation);
  add("step", event.step);
  if (event.epoch > 0 || HasLoss(event.kind)) args["epoch"] = event.epoch;
  add("position", event.position);
  if (event.phase != RecordPhase::kInEpoch) {
    args["phase"] = RecordPhaseName(event.phase);
  }
  if (HasLoss(event.kind)) {
    args["loss"] = DecimalOf(event.loss_bits);
    args["loss_bits"] = fmt::format("{:08x}", event.loss_bits);
  }
  add("count", event.count);
  add("digest", event.digest);
  add("path", event.path);
  if (event.about) args["about"] = *event.about;
  add("about_incarnation", event.incarnation);
  if (event.reason != RecordReason::kNone) {
    args["reason"] = RecordReasonName(event.reason);
  }
  add("limit_ns", event.limit_ns);
  add("detail", event.detail);
  return args;
}

bool IsRoutineSlice(const TraceSlice& slice) {
  return slice.category == "evaluation" || slice.category == "epoch";
}

// A level of detail.
struct Thinning {
  uint64_t steps_per_slice = 1;
  bool keeps_routine = true;
};

// Tried in this order until the trace is small enough.
constexpr Thinning kThinnings[] = {
    {.steps_per_slice = 1},
    {.steps_per_slice = 10},
    {.steps_per_slice = 100},
    {.steps_per_slice = 1'000},
    {.steps_per_slice = 10'000},
    {.steps_per_slice = std::numeric_limits<uint64_t>::max(),
     .keeps_routine = false},
};

// Merges slices of consecutive steps: at 10 steps per slice, steps 10 to 19. A
// step with an incident keeps a slice of its own.
class StepMerger {
 public:
  StepMerger(const TraceModel& model, const Thinning& thinning)
      : thinning_(thinning) {
    for (const TraceInstant& instant : model.instants) {
      const RecordEvent& event = EventAt(model.record, instant.event);
      if (IsIncident(event.kind)) incidents_ns_.push_back(event.t_ns);
    }
    std::ranges::sort(incidents_ns_);
  }

  std::vector<TraceSlice> Merge(const std::vector<TraceSlice>& slices) const {
    std::vector<TraceSlice> merged;
    std::optional<size_t> open;  // index in `merged`
    for (const TraceSlice& slice : slices) {
      if (!thinning_.keeps_routine && IsRoutineSlice(slice)) continue;
      if (slice.steps == 0) {
        merged.push_back(slice);
      } else if (open && Joins(merged[*open], slice)) {
        Extend(merged[*open], slice);
      } else {
        open = merged.size();
        merged.push_back(slice);
      }
    }
    return merged;
  }

 private:
  bool HasIncident(const TimeSpan& span) const {
    const auto at = std::ranges::lower_bound(incidents_ns_, span.begin_ns);
    return at != incidents_ns_.end() && *at <= span.end_ns;
  }

  bool Joins(const TraceSlice& open, const TraceSlice& step) const {
    const uint64_t per_slice = thinning_.steps_per_slice;
    return per_slice > 1 && open.event.incarnation == step.event.incarnation &&
           open.segment == step.segment &&
           open.first_step / per_slice == step.first_step / per_slice &&
           step.first_step == open.first_step + open.steps &&
           (!thinning_.keeps_routine ||
            (!HasIncident(open.span) && !HasIncident(step.span)));
  }

  static void Extend(TraceSlice& open, const TraceSlice& step) {
    open.event = step.event;
    open.span.end_ns = step.span.end_ns;
    open.steps += step.steps;
    open.name = fmt::format("steps {}-{}", open.first_step, step.first_step);
  }

  const Thinning thinning_;
  std::vector<int64_t> incidents_ns_;  // ascending
};

class TraceWriter {
 public:
  TraceWriter(const TraceModel& model, const Thinning& thinning,
              const ChromeTraceOptions& options)
      : model_(model),
        thinning_(thinning),
        max_bytes_(options.max_bytes),
        lacking_events_(options.lacking_events),
        slices_(StepMerger(model, thinning).Merge(model.slices)),
        threads_(AssignThreads(model, slices_)) {
    for (size_t i = 0; i < model.arrows.size(); ++i) {
      arrows_.emplace(model.arrows[i].cause, Arrow{i + 1, "s"});
      arrows_.emplace(model.arrows[i].effect, Arrow{i + 1, "f"});
    }
  }

  std::string Write() {
    out_ = R"({"displayTimeUnit":"ms","traceEvents":[)";
    AddNames();
    for (size_t i = 0; i < slices_.size() && !IsTooLarge(); ++i) AddSlice(i);
    for (const TraceInstant& instant : model_.instants) {
      if (IsTooLarge()) break;
      AddInstant(instant);
    }
    AddPositions();
    out_ += "\n],\"otherData\":" + Dump(OtherData()) + "}\n";
    bytes_ = out_.size();
    return std::move(out_);
  }

  // Returns true iff the trace exceeds the limit and a stricter thinning is
  // left to try. Write then stops early. Otherwise Write completes the trace,
  // even beyond the limit.
  bool IsTooLarge() const {
    return thinning_.keeps_routine && bytes_ > max_bytes_;
  }

 private:
  struct Arrow {
    size_t number = 0;
    std::string_view phase;
  };

  // Replaces bytes that are not UTF-8 by U+FFFD.
  static std::string Dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void Add(const Json& event) {
    out_ += any_ ? ",\n" : "\n";
    any_ = true;
    out_ += Dump(event);
    bytes_ = out_.size();
  }

  static Json EventOn(const TraceThread& thread, std::string_view phase,
                      std::string_view name) {
    return {{"name", PlainText(name)},
            {"ph", phase},
            {"pid", thread.process},
            {"tid", thread.number}};
  }

  void AddNames() {
    int64_t process = 0;
    const auto add = [this](const TraceThread& thread, std::string_view what,
                            const char* key, const Json& value) {
      Json event = EventOn(thread, "M", what);
      event["ts"] = 0;
      event["args"] = {{key, value}};
      Add(event);
    };
    for (const TraceThread& thread : threads_.threads) {
      if (thread.process != process) {
        process = thread.process;
        add(thread, "process_name", "name", EmitterText(thread.worker));
        add(thread, "process_sort_index", "sort_index", process);
      }
      add(thread, "thread_name", "name", thread.name);
      add(thread, "thread_sort_index", "sort_index", thread.number);
    }
  }

  static std::string EmitterText(int worker) {
    if (worker == kLauncherWorker) return "launcher";
    if (worker == kMachineEmitter) return "simulated machine";
    return fmt::format("worker {}", worker);
  }

  void AddSlice(size_t i) {
    const TraceSlice& slice = slices_[i];
    const TraceThread& thread = threads_.threads[threads_.of_slices[i]];
    Json event = EventOn(thread, "X", slice.name);
    event["cat"] = slice.category;
    event["ts"] = Microseconds(slice.span.begin_ns);
    event["dur"] = Microseconds(slice.span.end_ns - slice.span.begin_ns);
    Json args = ArgumentsOf(IncarnationOf(model_.record, slice.event),
                            EventAt(model_.record, slice.event));
    if (slice.cut_short) args["cut_short"] = true;
    if (slice.steps > 1) {
      args["first_step"] = slice.first_step;
      args["steps"] = slice.steps;
    }
    event["args"] = std::move(args);
    Add(event);
    if (slice.is_marker) AddArrows(slice, thread);
  }

  // Adds arrows right after their slice, as viewers bind an arrow to the slice
  // that began last on its thread.
  void AddArrows(const TraceSlice& slice, const TraceThread& thread) {
    const auto [begin, end] = arrows_.equal_range(slice.event);
    for (auto arrow = begin; arrow != end; ++arrow) {
      Json event = EventOn(thread, arrow->second.phase, "leads to");
      event["cat"] = "cause";
      event["id"] = arrow->second.number;
      event["ts"] = Microseconds(slice.span.begin_ns);
      if (arrow->second.phase == "f") event["bp"] = "e";
      Add(event);
    }
  }

  const TraceThread& ControlOf(const EventPlace& place) const {
    return threads_.threads[threads_.of_incarnations[place.incarnation]];
  }

  void AddInstant(const TraceInstant& instant) {
    const IncarnationEvents& incarnation =
        IncarnationOf(model_.record, instant.event);
    const RecordEvent& record_event = EventAt(model_.record, instant.event);
    if (!thinning_.keeps_routine && !IsIncident(record_event.kind)) return;
    Json event = EventOn(ControlOf(instant.event), "i",
                         EventText(model_.record, incarnation, record_event));
    event["cat"] = instant.category;
    event["ts"] = Microseconds(record_event.t_ns);
    event["s"] = "p";
    event["args"] = ArgumentsOf(incarnation, record_event);
    Add(event);
  }

  void AddPositions() {
    for (const TracePosition& position : model_.positions) {
      AddPosition(position.event);
    }
    for (const TraceSlice& slice : slices_) {
      if (IsTooLarge()) return;
      if (slice.steps > 0) AddPosition(slice.event);
    }
  }

  void AddPosition(const EventPlace& place) {
    const RecordEvent& record_event = EventAt(model_.record, place);
    Json event = EventOn(ControlOf(place), "C", "training position");
    event["ts"] = Microseconds(record_event.t_ns);
    event["args"] = {{"step", record_event.step}};
    Add(event);
  }

  Json OtherData() const {
    const Record& record = model_.record;
    Json data = {{"scenario", record.scenario},
                 {"case", record.case_name},
                 {"world", record.world},
                 {"ending", RunEndingName(record.ending)},
                 {"first_event_ns", model_.first_event_ns}};
    if (!record.skipped.empty()) data["skipped"] = record.skipped;
    data["left_out"] = LeftOut();
    return data;
  }

  Json LeftOut() const {
    Json left_out = Json::object();
    uint64_t step_slices = 0;
    for (const TraceSlice& slice : slices_) {
      if (slice.steps > 1) step_slices += slice.steps - 1;
    }
    if (lacking_events_ > 0) left_out["first_events"] = lacking_events_;
    if (step_slices > 0) left_out["step_slices"] = step_slices;
    if (thinning_.keeps_routine) return left_out;
    left_out["routine_slices"] =
        std::ranges::count_if(model_.slices, IsRoutineSlice);
    left_out["routine_instants"] = std::ranges::count_if(
        model_.instants, [this](const TraceInstant& instant) {
          return !IsIncident(EventAt(model_.record, instant.event).kind);
        });
    if (bytes_ > max_bytes_) left_out["bytes_over_limit"] = bytes_ - max_bytes_;
    return left_out;
  }

  const TraceModel& model_;
  const Thinning thinning_;
  const size_t max_bytes_;
  const uint64_t lacking_events_;
  std::vector<TraceSlice> slices_;
  const TraceThreads threads_;
  std::multimap<EventPlace, Arrow> arrows_;
  std::string out_;
  bool any_ = false;
  size_t bytes_ = 0;  // number written
};

}  // namespace

std::string RenderChromeTrace(const Record& record,
                              const ChromeTraceOptions& options) {
  const TraceModel model = TraceModelOf(record);
  std::string trace;
  for (const Thinning& thinning : kThinnings) {
    TraceWriter writer(model, thinning, options);
    trace = writer.Write();
    if (!writer.IsTooLarge()) break;
  }
  return trace;
}

}  // namespace gauntlet
