// One host's view of a file server that several hosts share.
//
// Model: NFS with close-to-open consistency, with Linux's default mount
// options. The server is a SimDisk of profile kShared; each host has one view.
//
// - Names change at the server, immediately and atomically: if two hosts create
//   exclusively, rename or remove, one wins. The server holds the locks.
// - For `listings_stale_for`, a host reuses a listing that it has read: List
//   returns it again, and opening a file for reading fails if the listing lacks
//   the file. A change by this host in a directory drops its listing of that
//   directory. If another host removed a name, this host finds it missing on
//   use.
// - A file's bytes and size are those at the server when this host last opened
//   the file, plus this host's own writes. Opening reads them again from the
//   server, unless this host still has unsent writes.
// - A host's writes stay on the host until Sync, or until its last handle is
//   closed. Then other hosts see them, but only Sync makes them durable at the
//   server and reports that the server is full; a close reports nothing. Before
//   that the host may send any piece at any time, in any order, to free memory
//   (`write_back`). The death of a process closes its files.
// - A crash of the host loses its unsent writes, though some may still reach
//   the server. A power loss of the server is SimDisk::PowerLoss; hosts keep
//   running with their cached data.
//
// Not modelled: a cached name that still leads to a file after another host
// renamed or removed it (here the name is missing immediately); silly renames
// (a removed file that is open stays readable, as on a local disk);
// delegations; byte-range locks.
#ifndef GAUNTLET_CHAOS_SIM_DISK_SHARED_VIEW_H_
#define GAUNTLET_CHAOS_SIM_DISK_SHARED_VIEW_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chaos/sim/disk/sim_disk.h"
#include "engine/world/clock.h"

namespace gauntlet {

struct SharedViewOptions {
  // Time for which a host reuses a listing; acdirmin in Linux.
  Duration listings_stale_for = std::chrono::seconds(30);
  // Chooses the pieces that the host sends early; null: none.
  ChoiceSource write_back;
};

class SharedView {
 public:
  // The server outlives the view.
  SharedView(SimDisk& server, SharedViewOptions options)
      : server_(server), options_(std::move(options)) {}

  // As in engine/world/storage.h. The caller closes each opened file exactly
  // once.
  Result<std::shared_ptr<Inode>> Open(std::string_view path, OpenMode mode,
                                      Time now);
  Result<std::vector<DirectoryEntry>> List(std::string_view path, Time now);
  Status MakeDirectory(std::string_view path);
  Status Rename(std::string_view from, std::string_view to);
  Status Remove(std::string_view path, FileKind kind);

  // REQUIRES: the file is open.
  void Write(const std::shared_ptr<Inode>& file, uint64_t offset,
             std::span<const std::byte> bytes);
  size_t Read(const std::shared_ptr<Inode>& file, uint64_t offset,
              std::span<std::byte> bytes) const;
  uint64_t Size(const std::shared_ptr<Inode>& file) const;
  Status Sync(const std::shared_ptr<Inode>& file);
  void Close(const std::shared_ptr<Inode>& file);

  // Crashes the host. Its unsent writes are lost, except those that
  // `write_back` chooses to reach the server.
  void Crash();

 private:
  struct Piece {
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  struct Copy {
    std::shared_ptr<Inode> inode;  // at the server
    std::string data;              // as this host sees the file
    std::vector<Piece> unwritten;  // oldest first
    Status refused;                // the server's error, not yet reported
    int handles = 0;
  };
  struct Listing {
    Time read{};
    std::vector<DirectoryEntry> entries;
  };

  Copy& Find(const std::shared_ptr<Inode>& file);
  const Copy& Find(const std::shared_ptr<Inode>& file) const;
  Status Flush(Copy& copy);
  Status HandOver(Copy& copy, const Piece& piece);
  void HandOverOne(Copy& copy);
  bool IsFresh(const Listing& listing, Time now) const;
  bool IsHidden(std::string_view path, Time now) const;
  void ForgetListingOf(std::string_view path);

  SimDisk& server_;
  SharedViewOptions options_;
  std::map<uint64_t, Copy> copies_;                       // by inode number
  std::map<std::string, Listing, std::less<>> listings_;  // by clean path
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_DISK_SHARED_VIEW_H_
