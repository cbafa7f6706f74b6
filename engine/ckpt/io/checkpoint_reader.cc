#include "engine/ckpt/io/checkpoint_reader.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include "engine/ckpt/format/manifest_format.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/retrying.h"
#include "engine/ckpt/io/shard_reader.h"
#include "engine/ckpt/state/shard_plan.h"
#include "engine/ckpt/state/state_digest.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct OpenFile {
  std::string_view name;
  std::unique_ptr<File> file;
};

// Opens files of one directory. Distinguishes a file that is missing in the
// directory from a directory that no longer exists.
class DirectoryReader {
 public:
  DirectoryReader(World& world, std::string path)
      : world_(world), path_(std::move(path)) {}

  // Returns kNotFound if the directory does not exist.
  Status Begin() {
    ASSIGN_OR_RETURN(entries_, RetryOnDiskError(world_, [&] {
                       return world_.storage.List(path_);
                     }));
    return OkStatus();
  }

  // `name` outlives the result.
  Result<OpenFile> Open(std::string_view name) {
    const auto entry =
        std::ranges::lower_bound(entries_, name, {}, &DirectoryEntry::name);
    if (entry == entries_.end() || entry->name != name) {
      return Missing(name);
    }
    if (entry->kind != FileKind::kFile) {
      return DataLoss(fmt::format("{}: expected a file, found {}", name,
                                  FileKindName(entry->kind)));
    }
    auto file = OpenToRead(name);
    if (file.status().code() == Code::kNotFound) {
      // A committed directory never loses just one file, so the directory
      // itself may be gone.
      RETURN_IF_ERROR(CheckIsThere(name));
      // The directory exists. A stale worker may have renamed it, so that the
      // file could not be opened, and then renamed it back.
      file = OpenToRead(name);
    }
    if (file.ok()) return OpenFile{name, std::move(file).value()};
    if (file.status().code() != Code::kNotFound) return file.status();
    return Missing(name);
  }

 private:
  Result<std::unique_ptr<File>> OpenToRead(std::string_view name) {
    const std::string path = fmt::format("{}/{}", path_, name);
    return RetryOnDiskError(
        world_, [&] { return world_.storage.Open(path, OpenMode::kRead); });
  }

  // Returns kNotFound if the directory is gone. A file server may still list a
  // removed directory. So the directory also counts as gone if none of its
  // other files can be opened.
  Status CheckIsThere(std::string_view missing) {
    RETURN_IF_ERROR(RetryOnDiskError(world_, [&] {
                      return world_.storage.List(path_);
                    }).status());
    for (const DirectoryEntry& entry : entries_) {
      if (entry.name == missing || entry.kind != FileKind::kFile) continue;
      if (OpenToRead(entry.name).ok()) return OkStatus();
    }
    return NotFound(path_ + ": gone");
  }

  static Status Missing(std::string_view name) {
    return DataLoss(fmt::format("{}: missing", name));
  }

  World& world_;
  const std::string path_;
  std::vector<DirectoryEntry> entries_;  // by name
};

enum class SizeRule { kExactly, kAtMost };

// Returns the size of the file; kDataLoss if `rule` does not allow it.
Result<uint64_t> CheckedSize(OpenFile& open, uint64_t expected, SizeRule rule) {
  ASSIGN_OR_RETURN(const uint64_t size, open.file->Size());
  const bool wrong =
      rule == SizeRule::kExactly ? size != expected : size > expected;
  if (wrong) {
    return DataLoss(fmt::format("{}: expected {}{} bytes, found {}", open.name,
                                rule == SizeRule::kAtMost ? "at most " : "",
                                expected, size));
  }
  return size;
}

Result<std::string> ReadText(OpenFile& open, uint64_t limit) {
  ASSIGN_OR_RETURN(const uint64_t size,
                   CheckedSize(open, limit, SizeRule::kAtMost));
  std::string text(size, '\0');
  BlockReader reader(*open.file, open.name, size);
  while (reader.next_block_bytes() > 0) {
    RETURN_IF_ERROR(reader.Read(std::as_writable_bytes(
        std::span(text).subspan(reader.offset(), reader.next_block_bytes()))));
  }
  return text;
}

Result<Manifest> ReadManifestFile(World& world, OpenFile& open) {
  ASSIGN_OR_RETURN(const std::string text, RetryOnDiskError(world, [&] {
                     return ReadText(open, kMaxManifestBytes);
                   }));
  Result<Manifest> manifest = ParseManifest(text);
  if (manifest.ok()) return manifest;
  return Annotate(manifest.status(), open.name);
}

// Reads a shard: ReadShard or DigestShard.
template <typename Contents>
using ShardRead = std::function<Result<Contents>(BlockReader&)>;

// Reads one file that the manifest lists: a shard, with `read_shard`, or the
// index, which contains no tensors.
template <typename Contents>
Result<Contents> ReadListedFile(World& world, OpenFile& open,
                                const ShardFile& listed, uint64_t step,
                                const ShardRead<Contents>& read_shard) {
  const bool blind = world.faults.Planted(PlantedBug::kTrustManifestBlindly);
  ASSIGN_OR_RETURN(
      auto contents, RetryOnDiskError(world, [&]() -> Result<Contents> {
        RETURN_IF_ERROR(world.faults.Hit(Point::kLoadRead,
                                         {.step = step, .size = listed.bytes}));
        // A wrong size implies a wrong digest, and is detected before the file
        // is read.
        ASSIGN_OR_RETURN(
            const uint64_t size,
            CheckedSize(open, blind ? ~uint64_t{0} : listed.bytes,
                        blind ? SizeRule::kAtMost : SizeRule::kExactly));
        BlockReader reader(*open.file, open.name, size);
        if (listed.name != kIndexName) return read_shard(reader);
        Contents index;
        ASSIGN_OR_RETURN(index.digest, ReadDigest(reader));
        return index;
      }));
  const Digest& found = contents.digest;
  if (!blind && found != listed.digest) {
    return DataLoss(fmt::format("{}: expected xxh3_128 {}, found {}", open.name,
                                listed.digest.ToString(), found.ToString()));
  }
  RETURN_IF_ERROR(Annotate(contents.format, listed.name));
  return contents;
}

// Checks that a shard has the tensors that the manifest lists, in any order.
Status CheckListedTensors(const ShardFile& listed,
                          std::span<const TensorView> views) {
  if (std::ranges::equal(views, listed.tensors, {}, &TensorView::name)) {
    return OkStatus();
  }
  for (const TensorView& view : views) {
    if (std::ranges::find(listed.tensors, view.name) == listed.tensors.end()) {
      return DataLoss(fmt::format("{}: tensor {} is not in the manifest",
                                  listed.name, view.name));
    }
  }
  if (views.size() == listed.tensors.size()) return OkStatus();
  return DataLoss(fmt::format("{}: expected {} tensors, found {}", listed.name,
                              listed.tensors.size(), views.size()));
}

std::vector<TensorView> InOrder(std::vector<TensorView> tensors) {
  std::vector<TensorView> ordered;
  ordered.reserve(tensors.size());
  for (const size_t i : NameOrder(tensors)) {
    ordered.push_back(std::move(tensors[i]));
  }
  return ordered;
}

// Reads all files of a checkpoint, and calls `take` with the contents of each
// shard. Returns the manifest's head. The caller checks the state digest.
template <typename Contents>
Result<CheckpointHead> ReadFiles(World& world, const std::string& path,
                                 const ShardRead<Contents>& read_shard,
                                 const std::function<void(Contents)>& take) {
  DirectoryReader directory(world, path);
  RETURN_IF_ERROR(directory.Begin());
  ASSIGN_OR_RETURN(OpenFile open, directory.Open(kManifestName));
  ASSIGN_OR_RETURN(Manifest manifest, ReadManifestFile(world, open));
  std::vector<OpenFile> files;
  files.reserve(manifest.files.size());
  for (const ShardFile& listed : manifest.files) {
    ASSIGN_OR_RETURN(OpenFile file, directory.Open(listed.name));
    files.push_back(std::move(file));
  }
  for (size_t i = 0; i < files.size(); ++i) {
    const ShardFile& listed = manifest.files[i];
    ASSIGN_OR_RETURN(Contents contents,
                     ReadListedFile(world, files[i], listed, manifest.head.step,
                                    read_shard));
    if (listed.name == kIndexName) continue;
    RETURN_IF_ERROR(CheckListedTensors(listed, contents.tensors));
    take(std::move(contents));
  }
  return std::move(manifest.head);
}

Status CheckStateDigest(const CheckpointHead& head, const Digest& found) {
  if (found == head.state_digest) return OkStatus();
  return DataLoss(fmt::format("state digest: expected {}, found {}",
                              head.state_digest.ToString(), found.ToString()));
}

}  // namespace

Result<std::string> ReadWithRetry(World& world, const std::string& path,
                                  uint64_t limit) {
  return RetryOnDiskError(world,
                          [&] { return ReadFile(world.storage, path, limit); });
}

Result<Manifest> ReadManifest(World& world, const std::string& path) {
  DirectoryReader directory(world, path);
  RETURN_IF_ERROR(directory.Begin());
  ASSIGN_OR_RETURN(OpenFile open, directory.Open(kManifestName));
  return ReadManifestFile(world, open);
}

Status CheckFileSizes(World& world, const std::string& path,
                      const Manifest& manifest) {
  DirectoryReader directory(world, path);
  RETURN_IF_ERROR(directory.Begin());
  for (const ShardFile& listed : manifest.files) {
    ASSIGN_OR_RETURN(OpenFile file, directory.Open(listed.name));
    RETURN_IF_ERROR(RetryOnDiskError(world, [&] {
                      return CheckedSize(file, listed.bytes,
                                         SizeRule::kExactly);
                    }).status());
  }
  return OkStatus();
}

Status VerifyCheckpoint(World& world, const std::string& path) {
  std::vector<TensorView> tensors;
  std::vector<BlockDigests> blocks;
  ASSIGN_OR_RETURN(
      const CheckpointHead head,
      ReadFiles<ShardDigests>(
          world, path, DigestShard, [&](ShardDigests shard) {
            std::ranges::move(shard.tensors, std::back_inserter(tensors));
            std::ranges::move(shard.blocks, std::back_inserter(blocks));
          }));
  if (world.faults.Planted(PlantedBug::kTrustManifestBlindly)) {
    return OkStatus();
  }
  return CheckStateDigest(head, StateDigest(tensors, blocks));
}

Result<LoadedCheckpoint> ReadCheckpoint(World& world, const std::string& path,
                                        const TensorPlaces& places) {
  LoadedCheckpoint loaded;
  std::vector<TensorView> tensors;
  ASSIGN_OR_RETURN(
      loaded.head,
      ReadFiles<ShardContents>(
          world, path,
          [&](BlockReader& reader) { return ReadShard(reader, places); },
          [&](ShardContents shard) {
            std::ranges::move(shard.tensors, std::back_inserter(tensors));
            loaded.bytes.push_back(std::move(shard.bytes));
          }));
  loaded.tensors = InOrder(std::move(tensors));
  if (world.faults.Planted(PlantedBug::kTrustManifestBlindly)) return loaded;
  RETURN_IF_ERROR(CheckStateDigest(loaded.head, StateDigest(loaded.tensors)));
  return loaded;
}

}  // namespace gauntlet
