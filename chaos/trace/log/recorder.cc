#include "chaos/trace/log/recorder.h"

#include <ctime>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMostPaths = 1000;
constexpr size_t kShownPaths = 3;

int64_t Nanoseconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Returns "a, b, c and 4 more".
std::string PathsText(const std::set<std::string>& paths) {
  std::string text;
  size_t shown = 0;
  for (const std::string& path : paths) {
    if (shown++ == kShownPaths) break;
    text += (shown == 1 ? "" : ", ") + path;
  }
  if (paths.size() > kShownPaths)
    text += fmt::format(" and {} more", paths.size() - kShownPaths);
  return text;
}

void AddPath(const std::string& path, std::set<std::string>& paths) {
  if (paths.size() < kMostPaths) paths.insert(path);
}

}  // namespace

Recorder::Recorder(OperationLog* log)
    : log_(log), start_(Nanoseconds(CLOCK_MONOTONIC)) {
  if (log_ != nullptr) log_->SetStartTime(Nanoseconds(CLOCK_REALTIME));
}

Duration Recorder::SinceStart() const {
  return Duration(Nanoseconds(CLOCK_MONOTONIC) - start_);
}

uint64_t Recorder::AddFile(const FileIdentity& identity) {
  ++files_;
  return log_ == nullptr ? files_ : log_->AddFile(identity);
}

void Recorder::Add(FileOperation operation) {
  operation.end = NextTimestamp();
  if (operation.begin == 0) operation.begin = operation.end;
  if (IsOwnCrashPoint(operation)) ++own_operations_;
  if (log_ == nullptr || !status_.ok()) return;
  operation.time = SinceStart();
  status_ = log_->Append(std::move(operation));
}

void Recorder::AddWithBytes(FileOperation operation, const ByteReader& source) {
  if (log_ != nullptr && status_.ok()) {
    const auto bytes =
        log_->AppendBytes(source, operation.offset, operation.length);
    if (!bytes.ok()) {
      status_ = bytes.status();
      return;
    }
    operation.bytes = *bytes;
  }
  Add(std::move(operation));
}

void Recorder::AddWrite(FileOperation operation, int reader) {
  if (log_ == nullptr || !status_.ok()) return Add(std::move(operation));
  status_ = log_->CheckRoom(pending_.size() + operation.length);
  if (!status_.ok()) return;
  if (!pending_.Add(log_->operations().size(), operation, reader))
    return AddWithBytes(std::move(operation), BytesOfDescriptor(reader));
  Add(std::move(operation));
}

void Recorder::BeforeChange(uint64_t file, const ByteRange& range) {
  if (log_ != nullptr && status_.ok())
    status_ = pending_.CopyTouched(file, range, *log_);
}

void Recorder::CopyImmediately(uint64_t file) {
  BeforeChange(file, kWholeFile);
  pending_.NeverWaits(file);
}

void Recorder::CopyPending() {
  if (log_ != nullptr && status_.ok()) status_ = pending_.CopyAll(*log_);
}

void Recorder::Note(const std::string& line) {
  if (noted_.insert(line).second) notes_.push_back(line);
}

void Recorder::NoteOutside(const std::string& path) { AddPath(path, outside_); }

void Recorder::NoteNotRecorded(std::string_view call, std::string_view meaning,
                               const std::string& path) {
  AddPath(path, not_recorded_[{std::string(call), std::string(meaning)}]);
}

std::vector<std::string> Recorder::TakeNotes() {
  for (const auto& [call, paths] : not_recorded_) {
    Note(
        fmt::format("{} on {}: {}", call.first, PathsText(paths), call.second));
  }
  if (!outside_.empty()) {
    Note("files outside are not watched, and shared by all runs: " +
         PathsText(outside_));
  }
  return std::move(notes_);
}

}  // namespace gauntlet
