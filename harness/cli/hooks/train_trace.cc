#include "harness/cli/hooks/train_trace.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "engine/real/storage/event_file.h"
#include "engine/real/storage/incarnation_file.h"
#include "harness/record/record.h"
#include "harness/run/files/text_file.h"
#include "reports/trace/chrome_trace.h"
#include "reports/trace/gzip.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

// Limits on the memory of a trace, so that enough is left for training.
constexpr uint64_t kMostEventBytes = uint64_t{64} << 20;  // in event files
constexpr size_t kMostEvents = 200'000;                   // in memory

constexpr const char* kFlag = "--trace";

// Checks that two constants are equal: harness/record has its own, as it may
// not include the engine's header.
static_assert(kLauncherWorker == kLauncherEventWorker);

Record RecordOf(const TrainCommand& command,
                std::vector<IncarnationEvents> incarnations) {
  Record record = {
      .scenario = command.preset, .case_name = "train", .world = "real"};
  record.setup.async_saves = command.options.checkpoint.mode != SaveMode::kSync;
  for (IncarnationEvents& incarnation : incarnations) {
    if (incarnation.worker == kLauncherWorker) {
      record.launchers.push_back({.first_incarnation = incarnation.number,
                                  .events = std::move(incarnation.events)});
    } else {
      record.incarnations.push_back(std::move(incarnation));
    }
  }
  return record;
}

Status WriteRunTrace(const std::string& file, const Record& record,
                     uint64_t lacking_events) {
  return Annotate(
      WriteTextFile(file,
                    TraceFileBytes(
                        file, RenderChromeTrace(
                                  record, {.lacking_events = lacking_events}))),
      kFlag);
}

}  // namespace

Result<std::unique_ptr<LauncherTraceWriter>> LocalTrace::Prepare(
    const TrainCommand& command) {
  std::unique_ptr<LocalTrace> trace(new LocalTrace());
  trace->events_directory_ = command.events_directory;
  if (command.events_directory.empty()) {
    ASSIGN_OR_RETURN(trace->own_, TemporaryDirectory::Make("trace"));
    trace->events_directory_ = trace->own_->path();
  }
  trace->before_ = LengthsIn(trace->events_directory_);
  return std::unique_ptr<LauncherTraceWriter>(std::move(trace));
}

Status LocalTrace::Write(const TrainCommand& command) const {
  Result<FolderEvents> events =
      ReadEventFolder(events_directory_, before_, kMostEventBytes);
  if (!events.ok()) return Annotate(events.status(), kFlag);
  return WriteRunTrace(command.trace_file,
                       RecordOf(command, std::move(events->incarnations)),
                       events->left_out);
}

WorkerTrace::WorkerTrace(const Clock& clock) : events_(clock, kMostEvents) {}

void WorkerTrace::Write(const TrainCommand& command, const WorkerSpec& place,
                        Console& console) const {
  EventMemory::Kept kept = events_.Copy();
  IncarnationEvents incarnation = {.worker = place.worker,
                                   .number = place.incarnation,
                                   .events = std::move(kept.events)};
  const Status written = WriteRunTrace(
      TraceFileOfWorker(command.trace_file, place.worker, place.incarnation),
      RecordOf(command, {std::move(incarnation)}), kept.left_out);
  if (written.ok()) return;
  fmt::print(console.err, "gauntlet train: {}\n", written.message());
}

std::string TraceFileOfWorker(const std::string& file, int worker,
                              int incarnation) {
  const std::filesystem::path path = file;
  const std::string name = path.filename();
  const size_t dot = name.find('.', 1);
  const std::string stem = name.substr(0, dot);
  const std::string ending = dot == name.npos ? "" : name.substr(dot);
  return path.parent_path() /
         fmt::format("{}-{}", stem,
                     IncarnationFileName(worker, incarnation, ending));
}

}  // namespace gauntlet
