#include "engine/real/storage/event_file.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string_view>
#include <utility>

#include "engine/check.h"
#include "engine/real/posix/posix_status.h"
#include "engine/real/posix/regular_file.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace gauntlet {
namespace {

bool NeedsEscape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\';
}

void AppendQuoted(std::string& line, std::string_view text) {
  if (std::ranges::none_of(text, NeedsEscape)) {
    line += '"';
    line += text;
    line += '"';
    return;
  }
  line += nlohmann::ordered_json(text).dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void AppendNumber(std::string& line, std::string_view key, uint64_t value) {
  if (value != 0) {
    fmt::format_to(std::back_inserter(line), ",\"{}\":{}", key, value);
  }
}

void AppendText(std::string& line, std::string_view key,
                std::string_view value) {
  if (value.empty()) return;
  fmt::format_to(std::back_inserter(line), ",\"{}\":", key);
  AppendQuoted(line, value);
}

void AppendSamples(std::string& line, const std::vector<uint32_t>& samples) {
  if (samples.empty()) return;
  fmt::format_to(std::back_inserter(line), ",\"samples\":[{}]",
                 fmt::join(samples, ","));
}

void AppendParts(std::string& line, std::string_view key,
                 const std::vector<PartTime>& parts) {
  if (parts.empty()) return;
  fmt::format_to(std::back_inserter(line), ",\"{}\":", key);
  char before = '{';
  for (const PartTime& part : parts) {
    fmt::format_to(std::back_inserter(line), "{}\"{}\":{}",
                   std::exchange(before, ','), TimePartName(part.part),
                   part.took.count());
  }
  line += '}';
}

void AppendEvent(std::string& line, const LogEvent& event, Time time) {
  const auto out = std::back_inserter(line);
  fmt::format_to(out, "{{\"kind\":\"{}\",\"t_ns\":{}",
                 EventKindName(event.kind), time.time_since_epoch().count());
  AppendNumber(line, "generation", event.generation);
  AppendNumber(line, "step", event.step);
  AppendNumber(line, "epoch", event.epoch);
  AppendNumber(line, "position", event.position);
  if (event.phase != Phase::kInEpoch) {
    fmt::format_to(out, ",\"phase\":\"{}\"", PhaseName(event.phase));
  }
  if (event.count != 0) fmt::format_to(out, ",\"count\":{}", event.count);
  if (event.loss_bits != 0) {
    fmt::format_to(out, ",\"loss\":\"{:08x}\"", event.loss_bits);
  }
  if (event.digest) AppendText(line, "digest", event.digest->ToString());
  AppendText(line, "path", event.path);
  AppendText(line, "detail", event.detail);
  AppendSamples(line, event.samples);
  if (event.about) fmt::format_to(out, ",\"about\":{}", *event.about);
  if (event.incarnation != 0) {
    fmt::format_to(out, ",\"incarnation\":{}", event.incarnation);
  }
  AppendText(line, "reason", ReasonName(event.reason));
  if (event.limit_ns != 0) {
    fmt::format_to(out, ",\"limit_ns\":{}", event.limit_ns);
  }
  AppendParts(line, "parts_ns", event.parts);
  AppendParts(line, "background_ns", event.background);
  line += "}\n";
}

}  // namespace

EventFile::EventFile(std::string path, Descriptor fd, const Clock& clock,
                     OnFailure on_failure)
    : path_(std::move(path)),
      fd_(std::move(fd)),
      clock_(clock),
      on_failure_(std::move(on_failure)) {}

Result<std::unique_ptr<EventFile>> EventFile::Open(
    const std::string& path, const EventFileHeader& header, const Clock& clock,
    OnFailure on_failure) {
  ASSIGN_OR_RETURN(Descriptor fd, OpenToAppend(path));
  std::unique_ptr<EventFile> file(
      new EventFile(path, std::move(fd), clock, std::move(on_failure)));
  file->line_ = fmt::format(
      "{{\"kind\":\"header\",\"schema\":\"gauntlet.events/v2\",\"worker\":{},"
      "\"incarnation\":{},\"pid\":{},\"clock\":\"monotonic\"}}\n",
      header.worker, header.incarnation, getpid());
  RETURN_IF_ERROR(file->WriteLine());
  return file;
}

void EventFile::Emit(LogEvent event) {
  const std::lock_guard lock(mutex_);
  if (failed_ || (has_ended_ && event.kind == EventKind::kFrameLate)) return;
  has_ended_ = has_ended_ || event.kind == EventKind::kWorkerExited;
  line_.clear();
  // The time is taken under the lock, so lines are ordered by time.
  AppendEvent(line_, event, clock_.Now());
  const Status status = WriteLine();
  if (status.ok()) return;
  failed_ = true;
  if (on_failure_) on_failure_(status);
}

Status EventFile::WriteLine() {
  std::string_view rest = line_;
  while (!rest.empty()) {
    const ssize_t written = RetryOnInterrupt(
        [&] { return write(fd_.get(), rest.data(), rest.size()); });
    if (written < 0) return PosixError(errno, path_, "write");
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

}  // namespace gauntlet
