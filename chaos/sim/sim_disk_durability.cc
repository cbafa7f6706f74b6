// What of a disk is durable: syncs, and what a power cut leaves.
#include <algorithm>
#include <utility>

#include "chaos/sim/sim_disk.h"

namespace gauntlet {

void SimDisk::Sync(const std::shared_ptr<Inode>& file) {
  SyncInode(file, {.kind = MicroOpKind::kSync,
                   .inode = file->number,
                   .path = file->made_as});
}

Status SimDisk::SyncDirectory(std::string_view path) {
  ASSIGN_OR_RETURN(const auto directory, FindDirectory("sync", path));
  SyncInode(directory, {.kind = MicroOpKind::kSyncDirectory,
                        .inode = directory->number,
                        .path = std::string(path)});
  return OkStatus();
}

void SimDisk::SyncInode(const std::shared_ptr<Inode>& inode,
                        MicroOp operation) {
  if (options_.profile != DurabilityProfile::kLyingFsync) {
    SyncNow(*inode, operation.settles);
  } else if (options_.late_syncs != UINT64_MAX) {
    late_.push_back(inode);
    while (late_.size() > options_.late_syncs) {
      SyncNow(*late_.front(), operation.settles);
      late_.pop_front();
    }
  }
  Log(std::move(operation));
}

void SimDisk::SyncNow(Inode& inode, std::vector<uint64_t>& settled) {
  if (inode.kind == FileKind::kDirectory) {
    CommitNames(inode, settled);
    return;
  }
  Flush(inode, settled);
  if (options_.profile == DurabilityProfile::kExt4)
    CommitNames(*root_, settled);
}

void SimDisk::Flush(Inode& file, std::vector<uint64_t>& settled) {
  std::erase_if(file.dirty, [&](const auto& entry) {
    if (entry.second.lost) return false;
    settled.push_back(entry.second.operation);
    return true;
  });
  file.durable_size = file.data.size();
  ++file.version;
}

Status SimDisk::LoseUnsynced(std::string_view path) {
  ASSIGN_OR_RETURN(const Place place, Find("lose", path));
  if (place.inode == nullptr || place.inode->kind != FileKind::kFile) {
    return NotFound("lose " + std::string(path) + ": no such file");
  }
  for (auto& [block, dirty] : place.inode->dirty) dirty.lost = true;
  ++place.inode->version;
  return OkStatus();
}

bool SimDisk::NamesInOrder() const {
  return options_.profile == DurabilityProfile::kExt4;
}

void SimDisk::MakeDurable(const NameChange& change) {
  if (change.from != nullptr) {
    const auto entry = change.from->durable_entries.find(change.from_name);
    if (entry != change.from->durable_entries.end() &&
        entry->second == change.inode) {
      change.from->durable_entries.erase(entry);
    }
  }
  if (change.to != nullptr) {
    change.to->durable_entries[change.to_name] = change.inode;
  }
}

void SimDisk::CommitNames(const Inode& directory,
                          std::vector<uint64_t>& settled) {
  std::vector<bool> commits(pending_.size(), NamesInOrder());
  if (!NamesInOrder()) {
    // The changes in this directory and, going back, those that made the names
    // they use.
    std::set<std::pair<const Inode*, std::string_view>> used;
    for (size_t i = pending_.size(); i-- > 0;) {
      const NameChange& change = pending_[i];
      const std::pair from(change.from.get(),
                           std::string_view(change.from_name));
      const std::pair to(change.to.get(), std::string_view(change.to_name));
      commits[i] = from.first == &directory || to.first == &directory ||
                   (from.first != nullptr && used.contains(from)) ||
                   (to.first != nullptr && used.contains(to));
      if (!commits[i]) continue;
      used.insert(from);
      used.insert(to);
    }
  }
  std::vector<NameChange> left;
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (!commits[i]) {
      left.push_back(std::move(pending_[i]));
      continue;
    }
    MakeDurable(pending_[i]);
    settled.push_back(pending_[i].operation);
    if (NamesInOrder() && pending_[i].replaces_file) {
      Flush(*pending_[i].inode, settled);
    }
  }
  pending_ = std::move(left);
}

namespace {

using Directories = std::map<const Inode*, Inode::Entries>;
using Links = std::map<const Inode*, std::pair<const Inode*, std::string>>;

void MapLinks(const Inode& directory, Directories& directories, Links& links) {
  if (!directories.try_emplace(&directory, directory.durable_entries).second) {
    return;
  }
  for (const auto& [name, inode] : directory.durable_entries) {
    links[inode.get()] = {&directory, name};
    if (inode->kind == FileKind::kDirectory) {
      MapLinks(*inode, directories, links);
    }
  }
}

void TakeAway(const Inode* inode, const Inode* directory,
              const std::string& name, Directories& directories) {
  Inode::Entries& entries = directories[directory];
  const auto entry = entries.find(name);
  if (entry != entries.end() && entry->second.get() == inode) {
    entries.erase(entry);
  }
}

}  // namespace

SimDisk::KeptNames SimDisk::NamesWith(const std::vector<bool>& kept) const {
  KeptNames names;
  Links links;
  MapLinks(*root_, names.directories, links);
  // Those that the root does not lead to yet.
  for (const NameChange& change : pending_) {
    for (const auto& inode : {change.from, change.to, change.inode}) {
      if (inode != nullptr && inode->kind == FileKind::kDirectory) {
        MapLinks(*inode, names.directories, links);
      }
    }
  }
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (!kept[i]) continue;
    const NameChange& change = pending_[i];
    const Inode* const inode = change.inode.get();
    // An inode has one name. Where an earlier rename of it did not survive,
    // its name is still an older one.
    const auto link = links.find(inode);
    if (link != links.end()) {
      TakeAway(inode, link->second.first, link->second.second,
               names.directories);
    }
    if (change.from != nullptr) {
      TakeAway(inode, change.from.get(), change.from_name, names.directories);
    }
    if (change.to != nullptr) {
      names.directories[change.to.get()][change.to_name] = change.inode;
      links[inode] = {change.to.get(), change.to_name};
    }
    if (NamesInOrder() && change.replaces_file) names.flushed.insert(inode);
  }
  return names;
}

// Lets the chosen pending changes of names reach the disk.
void SimDisk::KeepNames(const Choose& choose) {
  std::vector<bool> kept(pending_.size());
  if (NamesInOrder()) {
    std::fill_n(kept.begin(), choose(pending_.size() + 1), true);
  } else {
    for (size_t i = 0; i < kept.size(); ++i) kept[i] = choose(2) != 0;
  }
  const KeptNames names = NamesWith(kept);
  std::vector<uint64_t> settled;
  for (const NameChange& change : pending_) {
    if (names.flushed.contains(change.inode.get())) {
      Flush(*change.inode, settled);
    }
  }
  std::vector<std::shared_ptr<Inode>> reachable = {root_};
  for (size_t i = 0; i < reachable.size(); ++i) {
    const std::shared_ptr<Inode> directory = reachable[i];
    const auto entries = names.directories.find(directory.get());
    directory->durable_entries =
        entries == names.directories.end() ? Inode::Entries{} : entries->second;
    for (const auto& [name, inode] : directory->durable_entries) {
      if (inode->kind == FileKind::kDirectory) reachable.push_back(inode);
    }
  }
  pending_.clear();
}

void SimDisk::PowerLoss(const Choose& choose) {
  options_.log = nullptr;
  late_.clear();
  KeepNames(choose);
  used_bytes_ = 0;
  Restore(*root_, choose);
}

// What readers find below the directory once the machine is up again.
void SimDisk::Restore(Inode& directory, const Choose& choose) {
  directory.linked = true;
  directory.entries = directory.durable_entries;
  for (auto& [name, inode] : directory.entries) {
    if (inode->kind == FileKind::kDirectory) {
      Restore(*inode, choose);
      continue;
    }
    KeepData(*inode, choose);
    inode->linked = true;
    inode->lock_holders.clear();
    used_bytes_ += inode->data.size();
  }
}

std::vector<uint64_t> SimDisk::SizesAfter(const Inode& file) {
  const uint64_t low = std::min<uint64_t>(file.durable_size, file.data.size());
  const uint64_t high = std::max<uint64_t>(file.durable_size, file.data.size());
  std::vector<uint64_t> sizes = {low};
  if (low == high) return sizes;
  for (uint64_t size = (low / kBlockBytes + 1) * kBlockBytes; size < high;
       size += kBlockBytes) {
    sizes.push_back(size);
  }
  sizes.push_back(high);
  return sizes;
}

uint64_t SimDisk::OutcomesOf(const Inode& file, uint64_t block,
                             const Inode::DirtyBlock& dirty) const {
  if (dirty.lost) return 1;
  // Ext4 brings the appended part of a file whole or not at all.
  const bool appended = block * kBlockBytes >= file.durable_size;
  if (appended && NamesInOrder()) return 1;
  return kFirstTorn + 2 * kCuts;
}

std::string SimDisk::BlockAfter(const Inode& file, uint64_t block,
                                const Inode::DirtyBlock& dirty,
                                uint64_t outcome) {
  if (outcome == kOld || dirty.lost) return dirty.durable;
  std::string written = BlockOf(file, block);
  if (outcome == kNew) return written;
  const uint64_t torn = outcome - kFirstTorn;
  std::string front = torn < kCuts ? std::move(written) : dirty.durable;
  std::string back = torn < kCuts ? dirty.durable : std::move(written);
  front.resize(kBlockBytes);
  back.resize(kBlockBytes);
  const uint64_t cut = (1 + torn % kCuts) * kSectorBytes;
  return front.substr(0, cut) + back.substr(cut);
}

void SimDisk::KeepData(Inode& file, const Choose& choose) {
  if (!file.dirty.empty() || file.durable_size != file.data.size()) {
    const std::vector<uint64_t> sizes = SizesAfter(file);
    const uint64_t size = sizes[sizes.size() > 1 ? choose(sizes.size()) : 0];
    std::string kept = file.data;
    kept.resize(size);
    for (const auto& [block, dirty] : file.dirty) {
      const uint64_t begin = block * kBlockBytes;
      if (begin >= size) continue;
      uint64_t outcome = kNew;
      if (OutcomesOf(file, block, dirty) > 1) {
        // Old, new, torn from the front, torn from the back: then, where.
        outcome = choose(4);
        if (outcome >= kFirstTorn) {
          outcome = kFirstTorn + (outcome - kFirstTorn) * kCuts + choose(kCuts);
        }
      }
      std::string bytes = BlockAfter(file, block, dirty, outcome);
      bytes.resize(std::min(kBlockBytes, size - begin));
      kept.replace(begin, bytes.size(), bytes);
    }
    file.data = std::move(kept);
  }
  file.dirty.clear();
  file.durable_size = file.data.size();
  ++file.version;
}

}  // namespace gauntlet
