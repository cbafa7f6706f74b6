// What a power cut can leave of one file.
#include <algorithm>
#include <set>
#include <utility>

#include "chaos/sim/crash_images.h"
#include "chaos/sim/number_system.h"

namespace gauntlet {
namespace {

// One way of a file's blocks: an outcome for each dirty one below the size.
using Ways = std::vector<std::vector<uint64_t>>;

double Product(const std::vector<uint64_t>& bases) {
  double product = 1;
  for (const uint64_t base : bases) product *= static_cast<double>(base);
  return product;
}

// Beyond the bound: all new, all old, and one block differing.
Ways FewWays(const std::vector<uint64_t>& bases) {
  std::set<std::vector<uint64_t>> ways;
  for (const uint64_t rest : {uint64_t{1}, uint64_t{0}}) {
    std::vector<uint64_t> way(bases.size(), rest);
    for (size_t i = 0; i < bases.size(); ++i) {
      if (bases[i] == 1) way[i] = 1;
    }
    ways.insert(way);
    for (size_t i = 0; i < bases.size(); ++i) {
      const uint64_t was = way[i];
      for (way[i] = 0; bases[i] > 1 && way[i] < bases[i]; ++way[i]) {
        ways.insert(way);
      }
      way[i] = was;
    }
  }
  return {ways.begin(), ways.end()};
}

Ways AllWays(const std::vector<uint64_t>& bases) {
  Ways ways;
  std::vector<uint64_t> way(bases.size(), 0);
  do {
    ways.push_back(way);
    // A block with one outcome has the new bytes, or else the lost ones.
    for (size_t i = 0; i < bases.size(); ++i) {
      if (bases[i] == 1) ways.back()[i] = 1;
    }
  } while (Next(way, bases));
  return ways;
}

}  // namespace

FileOutcomes CrashImages::ListOutcomes(const Inode& file, bool flushed) const {
  std::vector<uint64_t> sizes = SimDisk::SizesAfter(file);
  if (flushed) sizes = {file.data.size()};
  std::vector<std::vector<uint64_t>> bases(sizes.size());
  FileOutcomes outcomes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    for (const auto& [block, dirty] : file.dirty) {
      if (block * SimDisk::kBlockBytes >= sizes[i]) continue;
      bases[i].push_back(flushed ? 1 : disk_.OutcomesOf(file, block, dirty));
    }
    outcomes.total += Product(bases[i]);
  }
  const bool all = outcomes.total <= static_cast<double>(bound_.contents_up_to);
  std::set<Digest> seen;
  const auto add = [&](uint64_t size, const std::vector<uint64_t>& way) {
    std::string data = file.data;
    data.resize(size);
    size_t i = 0;
    for (const auto& [block, dirty] : file.dirty) {
      const uint64_t begin = block * SimDisk::kBlockBytes;
      if (begin >= size) continue;
      std::string bytes = SimDisk::BlockAfter(file, block, dirty, way[i++]);
      bytes.resize(std::min(SimDisk::kBlockBytes, size - begin));
      data.replace(begin, bytes.size(), bytes);
    }
    const Digest digest = DigestOf(data);
    if (!seen.insert(digest).second) return;
    outcomes.list.push_back({.file = std::make_shared<ImageFile>(ImageFile{
                                 .data = std::move(data), .frozen = true}),
                             .digest = digest,
                             .size = size,
                             .blocks = way});
  };
  // Nothing, then everything: which size is the durable one tells what shrank.
  const bool shrank = file.durable_size > file.data.size();
  const size_t durable = shrank ? sizes.size() - 1 : 0;
  const size_t newest = flushed ? 0 : sizes.size() - 1 - durable;
  const auto plain = [&](size_t size, uint64_t outcome) {
    std::vector<uint64_t> way(bases[size].size(), outcome);
    for (size_t i = 0; i < way.size(); ++i) {
      if (bases[size][i] == 1) way[i] = SimDisk::kNew;
    }
    add(sizes[size], way);
  };
  plain(flushed ? 0 : durable, SimDisk::kOld);
  plain(newest, SimDisk::kNew);
  for (size_t i = 0; i < sizes.size(); ++i) {
    for (const auto& way : all ? AllWays(bases[i]) : FewWays(bases[i])) {
      add(sizes[i], way);
    }
  }
  if (all) outcomes.total = static_cast<double>(outcomes.list.size());
  return outcomes;
}

}  // namespace gauntlet
