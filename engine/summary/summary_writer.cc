#include "engine/summary/summary_writer.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "engine/world/directories.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Stamps have ten digits, so that file names sort by their times.
constexpr int64_t kMaxStamp = 9'999'999'999;

// Returns the time in an event file's name; -1 if the name has none.
int64_t StampOf(std::string_view name) {
  if (!name.starts_with(kEventFilePrefix)) return -1;
  name.remove_prefix(kEventFilePrefix.size());
  int64_t stamp = -1;
  const auto [stop, error] =
      std::from_chars(name.data(), name.data() + name.size(), stamp);
  return error == std::errc() && stamp <= kMaxStamp ? stamp : -1;
}

// Returns the present time, or a later one if the clock went back since an
// earlier file was created.
Result<int64_t> NewStamp(World& world, const std::string& directory) {
  ASSIGN_OR_RETURN(const std::vector<DirectoryEntry> entries,
                   world.storage.List(directory));
  int64_t stamp = std::max<int64_t>(world.clock.UnixSeconds(), 0);
  for (const DirectoryEntry& entry : entries) {
    stamp = std::max(stamp, StampOf(entry.name) + 1);
  }
  return std::min(stamp, kMaxStamp);
}

// Returns the host's name with unusual characters replaced, for a file name.
std::string HostPart(const std::string& host) {
  std::string part;
  for (const char c : host) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '.';
    part += plain ? c : '_';
  }
  return part.substr(0, 64);
}

}  // namespace

SummaryWriter::SummaryWriter(World& world, std::string path,
                             std::unique_ptr<File> file)
    : world_(&world), path_(std::move(path)), file_(std::move(file)) {}

Result<std::unique_ptr<SummaryWriter>> SummaryWriter::Open(
    World& world, const std::string& directory, uint64_t first_step) {
  RETURN_IF_ERROR(Annotate(CheckPath(directory), "summary directory"));
  RETURN_IF_ERROR(MakeDurableDirectory(world.storage, directory));
  ASSIGN_OR_RETURN(const int64_t stamp, NewStamp(world, directory));
  std::string path = fmt::format("{}/{}{:010}.{}", directory, kEventFilePrefix,
                                 stamp, HostPart(world.host.Name()));
  ASSIGN_OR_RETURN(auto file,
                   world.storage.Open(path, OpenMode::kCreateExclusive));
  std::unique_ptr<SummaryWriter> writer(
      new SummaryWriter(world, std::move(path), std::move(file)));
  RETURN_IF_ERROR(writer->Append(FileVersionEvent(writer->Now(0))));
  RETURN_IF_ERROR(writer->Append(SessionStartEvent(writer->Now(first_step))));
  RETURN_IF_ERROR(world.storage.SyncDirectory(directory));
  return writer;
}

EventTime SummaryWriter::Now(uint64_t step) const {
  return {.wall_seconds = static_cast<double>(world_->clock.UnixSeconds()),
          .step = step};
}

Status SummaryWriter::Append(const std::string& event) {
  const std::string record = EventRecord(event);
  RETURN_IF_ERROR(file_->WriteAt(size_, std::as_bytes(std::span(record))));
  size_ += record.size();
  return OkStatus();
}

Status SummaryWriter::Write(uint64_t step, std::span<const Scalar> scalars) {
  return Append(ScalarsEvent(Now(step), scalars));
}

Status SummaryWriter::Sync() { return file_->Sync(); }

}  // namespace gauntlet
