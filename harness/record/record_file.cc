#include "harness/record/record_file.h"

#include <algorithm>

#include "harness/record/invariants.h"
#include "harness/record/json_fields.h"
#include <fmt/format.h>
#include <xxhash.h>

namespace gauntlet {

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<Expectation> expect) {
  a.Field("outcome", expect.outcome);
  a.Field("invariants", expect.invariants);
  a.Field("restarts_exactly", expect.restarts_exactly);
  a.Field("restarts_max", expect.restarts_max);
  a.Field("resumed_from_step", expect.resumed_from_step);
  a.Field("recomputed_steps_max", expect.recomputed_steps_max);
  a.Field("detected_in_max_ns", expect.detected_in_max_ns);
  a.Field("failed_saves_exactly", expect.failed_saves_exactly);
  a.Field("exit_code", expect.exit_code);
  a.Field("ends_at_epoch", expect.ends_at_epoch);
  a.Field("ends_at_step", expect.ends_at_step);
  a.Field("saves_exactly", expect.saves_exactly);
  a.Field("checkpoints_left", expect.checkpoints_left);
  a.Field("epochs_after_restart_exactly", expect.epochs_after_restart_exactly);
  a.Field("loss_falls", expect.loss_falls);
  a.Field("accuracy_rises", expect.accuracy_rises);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<RecordFault> fault) {
  a.Field("id", fault.id);
  a.Field("fault", fault.kind);
  a.Field("worker", fault.worker);
  a.Field("point", fault.point);
  a.Field("step", fault.step);
  a.Field("epoch", fault.epoch);
  a.Field("save", fault.save);
  a.Field("in_save", fault.in_save);
  a.Field("polled", fault.polled);
  a.Field("summary", fault.summary);
  a.Field("then", fault.then);
  a.Field("always", fault.always);
  a.Field("until_step", fault.until_step);
  a.Field("hits", fault.hits);
  a.Field("latency_ns", fault.latency_ns);
  a.Field("duration_ns", fault.duration_ns);
  a.Field("for_ever", fault.for_ever);
  a.Field("parts_others", fault.parts_others);
  a.Field("groups", fault.groups);
  a.Field("byte", fault.byte);
  a.Field("grace_ns", fault.grace_ns);
  a.Field("disk", fault.disk);
  a.Field("of_one_host", fault.of_one_host);
}

template <class Archive>
void Describe(Archive& a,
              typename Archive::template Ref<PlannedLaunch> launch) {
  a.Field("epochs", launch.epochs);
  a.Field("max_steps", launch.max_steps);
  a.Field("stop_at_step", launch.stop_at_step);
  a.Field("other_job", launch.other_job);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<RunSetup> setup) {
  a.Field("workers", setup.workers, 1, kMaxWorkers);
  a.Field("min_workers", setup.min_workers, 0, kMaxWorkers);
  a.Field("workers_per_attempt", setup.workers_per_attempt, 1, kMaxWorkers);
  a.Field("rejoins", setup.rejoins);
  a.Field("epochs", setup.epochs);
  a.Field("rows_per_epoch", setup.rows_per_epoch);
  a.Field("save_interval_steps", setup.save_interval_steps);
  a.Field("saves_beside", setup.async_saves);
  a.Field("keep", setup.keep, 0);
  a.Field("delete_at_success", setup.delete_at_success);
  a.Field("allow_cold_start", setup.allow_cold_start);
  a.Field("no_store", setup.no_store);
  a.Field("curve_every", setup.curve_every);
  a.Field("exports", setup.exports);
  a.Field("limited_disk", setup.limited_disk);
  a.Field("detection_bound_ns", setup.detection_bound_ns);
  a.Field("detection_bound_saving_ns", setup.detection_bound_saving_ns);
  a.Field("restart_pause_ns", setup.restart_pause_ns);
  a.Field("first_restart_pause_ns", setup.first_restart_pause_ns);
  a.Field("detection_bound_joining_ns", setup.detection_bound_joining_ns);
  a.Field("heartbeat_every_ns", setup.heartbeat_every_ns);
  a.Field("notice_grace_ns", setup.notice_grace_ns);
  a.Field("poll_every_ns", setup.poll_every_ns);
  a.Field("steps_per_execution", setup.steps_per_execution, 1);
  a.Field("max_restarts", setup.max_restarts, 0);
  a.Field("never_restarts", setup.never_restarts);
  a.Field("silence_limit_ns", setup.silence_limit_ns);
  a.Field("hang_limit_ns", setup.hang_limit_ns);
  a.Field("orphans_end_ns", setup.orphans_end_ns);
  a.Field("step_timeout_ns", setup.step_timeout_ns);
  a.Field("save_timeout_ns", setup.save_timeout_ns);
  a.Field("start_timeout_ns", setup.start_timeout_ns);
  a.Field("longest_silence_ns", setup.longest_silence_ns);
  a.Field("longest_run_ns", setup.longest_run_ns);
  a.Field("planted_bugs", setup.planted_bugs);
  a.Field("launches", setup.launches);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<FinalResult> result) {
  a.Field("status", result.status);
  a.Field("epochs", result.epochs);
  a.Field("steps", result.steps);
  a.Field("digest", result.digest);
  a.Bits("loss", result.loss_bits);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<LauncherRun> run) {
  a.Field("exit_code", run.exit_code);
  a.Field("restarts", run.restarts);
  a.Field("planned", run.planned);
  a.Field("first_incarnation", run.first_incarnation, 1);
  a.Field("result", run.result);
}

template <class Archive>
void Describe(Archive& a,
              typename Archive::template Ref<StoredCheckpoint> checkpoint) {
  a.Field("name", checkpoint.name);
  a.Field("step", checkpoint.step);
  a.Field("valid", checkpoint.valid);
  a.Field("reason", checkpoint.reason);
  a.Field("digest", checkpoint.digest);
  a.Field("not_finite_since", checkpoint.not_finite_since);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<CurvePoint> point) {
  a.Field("tag", point.tag);
  a.Field("step", point.step);
  a.Bits("value", point.bits);
}

template <class Archive>
void Describe(Archive& a,
              typename Archive::template Ref<ExportedModel> exported) {
  a.Field("whole", exported.is_complete);
  a.Field("reason", exported.reason);
  a.Field("step", exported.step);
  a.Field("digest", exported.digest);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<Leftovers> left) {
  a.Field("store_listed", left.store_listed);
  a.Field("checkpoints", left.checkpoints);
  a.Field("rejected", left.rejected);
  a.Field("temporary", left.temporary);
  a.Field("processes_listed", left.processes_listed);
  a.Field("processes", left.processes);
  a.Field("outputs_listed", left.outputs_listed);
  a.Field("curves_damage", left.curves_damage);
  a.Field("curves", left.curves);
  a.Field("exported", left.exported);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<GoldenEntry> entry) {
  a.Field("at", entry.kind);
  a.Field("step", entry.step);
  a.Field("phase", entry.phase);
  a.Field("epoch", entry.epoch);
  a.Field("position", entry.position);
  a.Field("digest", entry.digest);
  a.Bits("loss", entry.loss_bits);
  a.Field("count", entry.count);
  a.Field("samples", entry.samples);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<GoldenEpoch> epoch) {
  a.Field("epoch", epoch.epoch);
  a.Bits("loss", epoch.loss_bits);
  a.Field("correct", epoch.correct);
}

// Lists all fields of a record except the parts that have lines of their own.
template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<Record> record) {
  a.Field("scenario", record.scenario);
  a.Field("case", record.case_name);
  a.Field("file", record.file);
  a.Field("line", record.line);
  a.Field("world", record.world);
  a.Field("skipped", record.skipped);
  a.Field("harness_error", record.harness_error);
  a.Field("nondeterminism", record.nondeterminism);
  a.Field("plan", record.plan_json);
  a.Field("expect", record.expect);
  a.Field("setup", record.setup);
  a.Field("faults", record.faults);
  a.Field("launchers", record.launchers);
  a.Field("ending", record.ending);
  a.Field("ending_detail", record.ending_detail);
  a.Field("wall_seconds", record.wall_seconds);
  a.Field("virtual_seconds", record.virtual_seconds);
  a.Field("oom_kills", record.oom_kills);
  a.Field("left", record.left);
  a.Field("golden_epochs", record.golden.epochs);
  a.Field("golden_final_digest", record.golden.final_digest);
}

namespace {

constexpr std::string_view kRecordSchema = "gauntlet.record/v3";
constexpr std::string_view kRunAgain = "run the case again";

// Returns the XXH3-128 digest, seed 0, as 32 hex digits, high half first.
std::string DigestOf(std::string_view text) {
  const XXH128_hash_t digest = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

class LineWriter {
 public:
  void Write(const Json& object) {
    text_ += DumpJson(object, -1);
    text_ += '\n';
  }
  // Returns all lines and the end line, which has their digest.
  std::string Finish() && {
    const std::string digest = DigestOf(text_);
    Write(Json{{"kind", "end"}, {"xxh3_128", digest}});
    return std::move(text_);
  }

 private:
  std::string text_;
};

// Returns the head of a record with its first field only.
Json StartOfHead() {
  Json head = Json::object();
  head["kind"] = "record";
  return head;
}

// Takes a record's lines one by one.
class RecordReader {
 public:
  // Reads the line. Returns what is wrong with it; "" if nothing is. `before`:
  // all text before the line.
  std::string Line(std::string_view line, std::string_view before) {
    if (ended_) return "expected nothing after the end line";
    std::string error;
    const Json object = ParseJsonLine(line, error);
    if (!error.empty()) return error;
    const std::string kind = object["kind"].get<std::string>();
    if (before.empty() != (kind == "record")) {
      return "expected a record line first, and only there";
    }
    if (kind == "record") {
      error = Head(object);
    } else if (kind == "golden") {
      JsonReader reader(object, "", error);
      Describe(reader, record_.golden.entries.emplace_back());
    } else if (kind == "process") {
      JsonReader reader(object, "", error);
      IncarnationEvents& incarnation = record_.incarnations.emplace_back();
      reader.Field("worker", incarnation.worker, 0, LastWorker());
      reader.Field("incarnation", incarnation.number, 1);
      events_ = &incarnation.events;
    } else if (kind == "launcher") {
      error = Launcher(object);
    } else if (kind == "machine") {
      events_ = &record_.machine;
    } else if (kind == "end") {
      error = End(object, before);
    } else {
      error = Event(object, kind);
    }
    return error;
  }

  bool ended() const { return ended_; }
  // Returns true iff the last error contains advice.
  bool gave_advice() const { return gave_advice_; }
  Record Take() && { return std::move(record_); }

 private:
  std::string Head(const Json& object) {
    std::string error;
    std::string schema;
    JsonReader reader(object, "", error);
    reader.Field("schema", schema);
    if (error.empty() && schema != kRecordSchema) {
      gave_advice_ = true;
      return fmt::format(
          "schema: expected {}, found \"{}\": read it with the build of "
          "gauntlet that wrote it, or {}",
          kRecordSchema, schema.substr(0, 40), kRunAgain);
    }
    Describe(reader, record_);
    for (const std::string& name : record_.expect.invariants) {
      if (!error.empty() || IsInvariant(name)) continue;
      error = fmt::format(
          "expect.invariants: expected names of invariants, found \"{}\"",
          name.substr(0, 40));
    }
    return error;
  }

  int LastWorker() const { return record_.setup.workers - 1; }

  std::string Event(const Json& object, const std::string& kind) {
    const auto found = FindRecordKind(kind);
    if (!found) {
      return fmt::format("kind: expected a known event, found \"{}\"",
                         kind.substr(0, 40));
    }
    if (events_ == nullptr) return "expected a process before its events";
    std::string error;
    events_->push_back(EventOfJson(object, *found, error));
    const int about = events_->back().about.value_or(0);
    if (error.empty() && about > LastWorker()) {
      return fmt::format("about: expected a worker or rank up to {}, found {}",
                         LastWorker(), about);
    }
    return error;
  }

  std::string Launcher(const Json& object) {
    std::string error;
    uint64_t start = 0;
    JsonReader reader(object, "", error);
    reader.Field("start", start);
    if (!error.empty()) return error;
    if (start < 1 || start > record_.launchers.size()) {
      return fmt::format("start: expected 1 to {}, found {}",
                         record_.launchers.size(), start);
    }
    events_ = &record_.launchers[start - 1].events;
    return error;
  }

  std::string End(const Json& object, std::string_view before) {
    std::string error;
    std::string digest;
    JsonReader reader(object, "", error);
    reader.Field("xxh3_128", digest);
    const std::string expected = DigestOf(before);
    if (error.empty() && digest != expected) {
      return fmt::format(
          "xxh3_128: expected {}, the digest of all lines before, found "
          "\"{}\": "
          "the record was changed after it was written",
          expected, digest.substr(0, 40));
    }
    ended_ = true;
    return error;
  }

  Record record_;
  std::vector<RecordEvent>* events_ = nullptr;  // the next event belongs here
  bool ended_ = false;
  bool gave_advice_ = false;
};

}  // namespace

bool StartsAsRecord(std::string_view text) {
  std::string start = DumpJson(StartOfHead(), -1);
  start.pop_back();  // the closing brace
  return text.starts_with(start);
}

std::string RecordToJsonLines(const Record& record) {
  LineWriter out;
  Json head = StartOfHead();
  head["schema"] = kRecordSchema;
  JsonWriter head_writer(head, JsonWriter::Defaults::kWrite);
  Describe(head_writer, record);
  out.Write(head);
  for (const GoldenEntry& entry : record.golden.entries) {
    Json object = Json::object();
    object["kind"] = "golden";
    JsonWriter writer(object, JsonWriter::Defaults::kSkip);
    Describe(writer, entry);
    out.Write(object);
  }
  for (const IncarnationEvents& incarnation : record.incarnations) {
    out.Write(Json{{"kind", "process"},
                   {"worker", incarnation.worker},
                   {"incarnation", incarnation.number}});
    for (const RecordEvent& event : incarnation.events)
      out.Write(EventToJson(event));
  }
  for (size_t i = 0; i < record.launchers.size(); ++i) {
    const std::vector<RecordEvent>& events = record.launchers[i].events;
    if (events.empty()) continue;
    out.Write(Json{{"kind", "launcher"}, {"start", i + 1}});
    for (const RecordEvent& event : events) out.Write(EventToJson(event));
  }
  if (!record.machine.empty()) {
    out.Write(Json{{"kind", "machine"}});
    for (const RecordEvent& event : record.machine) {
      out.Write(EventToJson(event));
    }
  }
  return std::move(out).Finish();
}

Parsed<Record> ReadRecord(std::string_view text, std::string_view name) {
  RecordReader reader;
  size_t line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    ++line_number;
    const std::string error =
        reader.Line(text.substr(begin, end - begin), text.substr(0, begin));
    begin = end + 1;
    if (!error.empty() && end == text.size()) break;  // incomplete line
    if (!error.empty()) {
      const std::string advice =
          reader.gave_advice() ? "" : fmt::format("; {}", kRunAgain);
      return Refused<Record>(
          fmt::format("{}:{}: {}{}", name, line_number, error, advice));
    }
  }
  if (text.empty()) {
    return Refused<Record>(fmt::format(
        "{}: expected a record, found an empty file; {}", name, kRunAgain));
  }
  if (!reader.ended() || !text.ends_with('\n')) {
    return Refused<Record>(
        fmt::format("{}: expected an end line, found a record that is cut "
                    "short at line {}; {}",
                    name, line_number, kRunAgain));
  }
  return {.value = std::move(reader).Take(), .error = ""};
}

}  // namespace gauntlet
