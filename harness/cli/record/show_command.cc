#include "harness/cli/record/show_command.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/cli/exit_code.h"
#include "engine/cli/output_file.h"
#include "engine/status.h"
#include "engine/text/counted.h"
#include "engine/utf8.h"
#include "harness/cli/run_folders/stored_records.h"
#include "harness/run/files/text_file.h"
#include "reports/trace/chrome_trace.h"
#include "reports/trace/gzip.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// kInvalidArgument: a requested worker, or the launcher, has no events in the
// record.
Status CheckWorkers(const ShowCommand& command, const Record& record) {
  if (command.filter.workers.empty()) return OkStatus();
  const std::vector<int> recorded = TimelineOf(record, {}).columns;
  for (const int worker : command.filter.workers) {
    if (std::ranges::binary_search(recorded, worker)) continue;
    std::vector<std::string> names;
    for (const int known : recorded) names.push_back(EmitterName(known));
    return InvalidArgument(
        fmt::format("--worker: expected one that has events in this record "
                    "({}), found {}",
                    fmt::join(names, ", "), EmitterName(worker)));
  }
  return OkStatus();
}

// kInvalidArgument: --world names the other world than that of the record.
Status CheckWorld(const ShowCommand& command, const std::filesystem::path& file,
                  const Record& record) {
  if (command.world == WorldChoice::kBoth) return OkStatus();
  const std::string_view wanted =
      command.world == WorldChoice::kReal ? "real" : "sim";
  if (record.world == wanted) return OkStatus();
  return InvalidArgument(
      fmt::format("--world {}: expected a record of that world, found only {}, "
                  "which is of world {}",
                  wanted, file.string(), record.world));
}

// Writes the trace. Prints the file's name and size.
Status WriteShownTrace(const ShowCommand& command, const Record& record,
                       Console& console) {
  const std::string& file = command.trace_file;
  RETURN_IF_ERROR(Annotate(CheckOutputFile(file), "--trace"));
  const std::string bytes = TraceFileBytes(file, RenderChromeTrace(record));
  RETURN_IF_ERROR(Annotate(WriteTextFile(file, bytes), "--trace"));
  console.out << WrittenFileLine(file, bytes);
  return OkStatus();
}

Result<Timeline> ShownTimeline(const ShowCommand& command,
                               const std::filesystem::path& file,
                               const Record& record) {
  RETURN_IF_ERROR(CheckWorkers(command, record));
  Timeline timeline = TimelineOf(record, command.filter);
  if (timeline.rows.empty() && timeline.events > 0) {
    return NotFound(
        fmt::format("{}: nothing selected: none of its {} is within --from and "
                    "--to",
                    file.string(), Counted(timeline.events, "event")));
  }
  return timeline;
}

Status Show(const ShowCommand& command, Console& console) {
  const Result<std::filesystem::path> found =
      FindRecordFile(command.target, command.runs_directory, command.world);
  if (!found.ok()) return InvalidArgument(found.status().message());
  const std::filesystem::path& file = *found;
  const Result<Record> read = LoadRecord(file);
  if (!read.ok()) return InvalidArgument(read.status().message());
  const Record& record = *read;
  RETURN_IF_ERROR(CheckWorld(command, file, record));
  if (!command.trace_file.empty()) {
    return WriteShownTrace(command, record, console);
  }
  ASSIGN_OR_RETURN(const Timeline timeline,
                   ShownTimeline(command, file, record));
  if (command.output == OutputFormat::kJson) {
    console.out << TimelineToJson(timeline);
    return OkStatus();
  }
  TableStyle style = TableStyleOf(console.out_style);
  if (command.width) style.width = *command.width;
  if (command.filter.routine == RoutineEvents::kListed) style.most_lines = 0;
  console.out << RenderTimeline(timeline, style);
  return OkStatus();
}

}  // namespace

TableStyle TableStyleOf(const TerminalStyle& style) {
  return {.width = style.columns(),
          .art = style.utf8() && style.colored() ? LineArt::kUnicode
                                                 : LineArt::kAscii,
          .colour = style.colored() ? Colour::kOn : Colour::kOff,
          .most_lines = style.is_terminal() ? kMostLinesOnTerminal : 0};
}

int RunShow(const ShowCommand& command, Console& console) {
  const Status shown = Show(command, console);
  if (shown.ok()) return static_cast<int>(ExitCode::kOk);
  fmt::print(console.err, "gauntlet show: {}\n", EscapeBytes(shown.message()));
  return static_cast<int>(shown.code() == Code::kNotFound
                              ? ExitCode::kNothingSelected
                              : ExitCode::kUsage);
}

}  // namespace gauntlet
