#include "chaos/sim/disk/shared_view.h"

#include <algorithm>
#include <cstring>

#include "chaos/sim/disk/path_parts.h"
#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// On average one write in this many makes a host send a piece early.
constexpr uint64_t kWriteBackOneIn = 8;

// Returns the path with exactly one '/' before each component.
std::string Clean(std::string_view path) {
  std::string clean;
  for (std::string_view part = NextPart(path); !part.empty();
       part = NextPart(path)) {
    clean.append("/").append(part);
  }
  return clean;
}

std::pair<std::string_view, std::string_view> Split(std::string_view clean) {
  const size_t slash = clean.rfind('/');
  if (slash == std::string_view::npos) return {"", clean};
  return {clean.substr(0, slash), clean.substr(slash + 1)};
}

}  // namespace

bool SharedView::IsFresh(const Listing& listing, Time now) const {
  return now - listing.read < options_.listings_stale_for;
}

// Returns true iff a listing that this host still uses lacks the name.
bool SharedView::IsHidden(std::string_view path, Time now) const {
  const std::string clean = Clean(path);
  const auto [directory, name] = Split(clean);
  const auto listing = listings_.find(directory);
  return listing != listings_.end() && IsFresh(listing->second, now) &&
         std::ranges::find(listing->second.entries, name,
                           &DirectoryEntry::name) ==
             listing->second.entries.end();
}

// Drops the listings of the path's directory, of the path, and of everything
// below it.
void SharedView::ForgetListingOf(std::string_view path) {
  const std::string clean = Clean(path);
  if (const auto own = listings_.find(Split(clean).first);
      own != listings_.end()) {
    listings_.erase(own);
  }
  std::erase_if(listings_, [&](const auto& entry) {
    return entry.first == clean || entry.first.starts_with(clean + "/");
  });
}

SharedView::Copy& SharedView::Find(const std::shared_ptr<Inode>& file) {
  const auto copy = copies_.find(file->number);
  CHECK(copy != copies_.end(), "a file that this host has not opened");
  return copy->second;
}

const SharedView::Copy& SharedView::Find(
    const std::shared_ptr<Inode>& file) const {
  const auto copy = copies_.find(file->number);
  CHECK(copy != copies_.end(), "a file that this host has not opened");
  return copy->second;
}

Result<std::shared_ptr<Inode>> SharedView::Open(std::string_view path,
                                                OpenMode mode, Time now) {
  const bool creates =
      mode == OpenMode::kCreateExclusive || mode == OpenMode::kCreateTruncate;
  if (!creates && IsHidden(path, now)) {
    return NotFound(
        fmt::format("open {}: no such file in this host's listing", path));
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<Inode> file, server_.Open(path, mode));
  if (creates) ForgetListingOf(path);
  Copy& copy = copies_[file->number];
  if (mode == OpenMode::kCreateTruncate) copy.unwritten.clear();
  if (copy.unwritten.empty()) copy.data = file->data;
  copy.inode = file;
  ++copy.handles;
  return file;
}

Result<std::vector<DirectoryEntry>> SharedView::List(std::string_view path,
                                                     Time now) {
  const std::string clean = Clean(path);
  const auto known = listings_.find(clean);
  if (known != listings_.end() && IsFresh(known->second, now)) {
    return known->second.entries;
  }
  ASSIGN_OR_RETURN(const auto entries, server_.List(path));
  listings_[clean] = {.read = now, .entries = entries};
  return entries;
}

Status SharedView::MakeDirectory(std::string_view path) {
  const Status made = server_.MakeDirectory(path);
  ForgetListingOf(path);
  return made;
}

Status SharedView::Rename(std::string_view from, std::string_view to) {
  const Status renamed = server_.Rename(from, to);
  ForgetListingOf(from);
  ForgetListingOf(to);
  return renamed;
}

Status SharedView::Remove(std::string_view path, FileKind kind) {
  const Status removed = server_.Remove(path, kind);
  ForgetListingOf(path);
  return removed;
}

void SharedView::Write(const std::shared_ptr<Inode>& file, uint64_t offset,
                       std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  Copy& copy = Find(file);
  if (offset + bytes.size() > copy.data.size()) {
    copy.data.resize(offset + bytes.size());
  }
  std::memcpy(copy.data.data() + offset, bytes.data(), bytes.size());
  copy.unwritten.push_back({.offset = offset, .size = bytes.size()});
  if (options_.write_back && options_.write_back(kWriteBackOneIn) == 0) {
    HandOverOne(copy);
  }
}

// Sends the piece with its current bytes, including later overwrites.
Status SharedView::HandOver(Copy& copy, const Piece& piece) {
  const std::string_view bytes =
      std::string_view(copy.data).substr(piece.offset, piece.size);
  return server_.Write(*copy.inode, piece.offset,
                       std::as_bytes(std::span(bytes)));
}

// Sends a random piece early. The next Flush returns the error, if any.
void SharedView::HandOverOne(Copy& copy) {
  const uint64_t index = options_.write_back(copy.unwritten.size());
  const auto piece = copy.unwritten.begin() + static_cast<ptrdiff_t>(index);
  const Status handed = HandOver(copy, *piece);
  if (copy.refused.ok()) copy.refused = handed;
  copy.unwritten.erase(piece);
}

size_t SharedView::Read(const std::shared_ptr<Inode>& file, uint64_t offset,
                        std::span<std::byte> bytes) const {
  const std::string& data = Find(file).data;
  if (offset >= data.size() || bytes.empty()) return 0;
  const size_t count = std::min(bytes.size(), data.size() - offset);
  std::memcpy(bytes.data(), data.data() + offset, count);
  return count;
}

uint64_t SharedView::Size(const std::shared_ptr<Inode>& file) const {
  return Find(file).data.size();
}

// Sends all pieces; those that the server rejects are lost.
Status SharedView::Flush(Copy& copy) {
  Status status = std::exchange(copy.refused, OkStatus());
  for (const Piece& piece : std::exchange(copy.unwritten, {})) {
    const Status written = HandOver(copy, piece);
    if (status.ok()) status = written;
  }
  if (!status.ok()) copy.data = copy.inode->data;
  return status;
}

Status SharedView::Sync(const std::shared_ptr<Inode>& file) {
  RETURN_IF_ERROR(Flush(Find(file)));
  server_.Sync(*file);
  return OkStatus();
}

void SharedView::Close(const std::shared_ptr<Inode>& file) {
  const auto copy = copies_.find(file->number);
  // After a crash of the host no file is open.
  if (copy == copies_.end() || --copy->second.handles > 0) return;
  // A close cannot report an error.
  const Status unheard = Flush(copy->second);
  static_cast<void>(unheard);
  copies_.erase(copy);
}

void SharedView::Crash() {
  for (auto& [number, copy] : copies_) {
    for (size_t left = copy.unwritten.size(); left > 0; --left) {
      if (!options_.write_back || options_.write_back(2) == 0) continue;
      HandOverOne(copy);
    }
  }
  copies_.clear();
  listings_.clear();
}

}  // namespace gauntlet
