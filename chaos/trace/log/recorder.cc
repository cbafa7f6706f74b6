#include "chaos/trace/log/recorder.h"

#include <ctime>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMostOutside = 1000;
constexpr size_t kShownOutside = 3;

int64_t Nanoseconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
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
  operation.end = NextMoment();
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

void Recorder::CopyAtOnce(uint64_t file) {
  BeforeChange(file, kWholeFile);
  pending_.NeverWaits(file);
}

void Recorder::CopyPending() {
  if (log_ != nullptr && status_.ok()) status_ = pending_.CopyAll(*log_);
}

void Recorder::Note(const std::string& line) {
  if (noted_.insert(line).second) notes_.push_back(line);
}

void Recorder::NoteOutside(const std::string& path) {
  if (outside_.size() < kMostOutside) outside_.insert(path);
}

std::vector<std::string> Recorder::TakeNotes() {
  if (!outside_.empty()) {
    std::string text = "files outside are not watched, and shared by all runs:";
    size_t shown = 0;
    for (const std::string& path : outside_) {
      if (shown++ == kShownOutside) break;
      text += (shown == 1 ? " " : ", ") + path;
    }
    if (outside_.size() > kShownOutside)
      text += fmt::format(" and {} more", outside_.size() - kShownOutside);
    Note(text);
  }
  return std::move(notes_);
}

}  // namespace gauntlet
