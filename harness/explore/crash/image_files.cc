#include "harness/explore/crash/image_files.h"

#include <algorithm>

#include "chaos/sim/disk/sim_disk.h"
#include "engine/ckpt/format/store_names.h"

namespace gauntlet {
namespace {

ImageDirectory* DirectoryAt(ImageDirectory& root, std::string_view path) {
  ImageDirectory* here = &root;
  while (here != nullptr && !path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty()) continue;
    const auto entry =
        std::ranges::find(here->entries, part, &ImageEntry::name);
    here = entry == here->entries.end() ? nullptr : entry->directory.get();
  }
  return here;
}

void ListFiles(ImageDirectory& directory, const std::string& path,
               std::vector<std::pair<std::string, ImageEntry*>>& files) {
  for (ImageEntry& entry : directory.entries) {
    const std::string here = path + "/" + entry.name;
    if (entry.directory != nullptr) {
      ListFiles(*entry.directory, here, files);
    } else {
      files.emplace_back(here, &entry);
    }
  }
}

}  // namespace

int CommittedCheckpoints(ImageDirectory& root, std::string_view store) {
  ImageDirectory* const directory = DirectoryAt(root, store);
  if (directory == nullptr) return 0;
  return static_cast<int>(
      std::ranges::count_if(directory->entries, [](const ImageEntry& entry) {
        return entry.directory != nullptr && CheckpointName::Parse(entry.name);
      }));
}

std::vector<std::pair<std::string, ImageEntry*>> ListFiles(
    ImageDirectory& root) {
  std::vector<std::pair<std::string, ImageEntry*>> files;
  ListFiles(root, "", files);
  return files;
}

std::vector<size_t> BitsOfRot(size_t bytes) {
  std::vector<size_t> bits;
  for (size_t begin = 0; begin < bytes; begin += SimDisk::kBlockBytes) {
    const size_t size = std::min<size_t>(SimDisk::kBlockBytes, bytes - begin);
    for (const size_t place : {size_t{0}, size / 2, size - 1}) {
      const size_t first = (begin + place) * 8;
      if (!bits.empty() && bits.back() >= first) continue;
      for (size_t bit = 0; bit < 8; ++bit) bits.push_back(first + bit);
    }
  }
  return bits;
}

}  // namespace gauntlet
