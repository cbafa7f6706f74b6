// Lists the possible contents of one file after a power loss.
#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "chaos/sim/disk/crash_images.h"
#include "chaos/sim/disk/odometer.h"

namespace gauntlet {
namespace {

// Combinations of outcomes: each has one outcome for every dirty block below
// the size.
using Ways = std::vector<std::vector<uint64_t>>;

double Product(const std::vector<uint64_t>& bases) {
  double product = 1;
  for (const uint64_t base : bases) product *= static_cast<double>(base);
  return product;
}

// The number of outcomes of each dirty block of a file, and the outcome of
// blocks that have only one.
struct Choices {
  std::vector<uint64_t> bases;
  uint64_t only = 0;
};

std::vector<uint64_t> AllAlike(const Choices& choices, uint64_t outcome) {
  std::vector<uint64_t> way;
  for (const uint64_t base : choices.bases) {
    way.push_back(base == 1 ? choices.only : outcome);
  }
  return way;
}

// Returns the ways to list if there are more than the bound: all blocks new,
// all blocks old, and both with one block in each of its other outcomes.
Ways FewWays(const Choices& choices) {
  const std::vector<uint64_t>& bases = choices.bases;
  std::set<std::vector<uint64_t>> ways;
  for (const uint64_t rest : {uint64_t{1}, uint64_t{0}}) {
    std::vector<uint64_t> way = AllAlike(choices, rest);
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

Ways AllWays(const Choices& choices) {
  Ways ways;
  std::vector<uint64_t> way(choices.bases.size(), 0);
  do {
    ways.push_back(way);
    for (size_t i = 0; i < way.size(); ++i) {
      if (choices.bases[i] == 1) ways.back()[i] = choices.only;
    }
  } while (Advance(way, choices.bases));
  return ways;
}

}  // namespace

FileOutcomes CrashImages::ListOutcomes(const Inode& file, FileData data) const {
  using Extent = SimDisk::Extent;
  using Blocks = SimDisk::Blocks;
  const std::vector<Extent> extents =
      data == FileData::kPending
          ? disk_.ExtentsAfter(file)
          : std::vector{Extent{file.data.size(), Blocks::kAllNew}};
  std::vector<Choices> choices(extents.size());
  FileOutcomes outcomes;
  for (size_t i = 0; i < extents.size(); ++i) {
    choices[i].only = SimDisk::OnlyOutcome(extents[i]);
    for (const auto& [block, dirty] : file.dirty) {
      if (block * SimDisk::kBlockBytes >= extents[i].size) break;
      choices[i].bases.push_back(disk_.OutcomesOf(file, extents[i], block));
    }
    outcomes.total += Product(choices[i].bases);
  }
  std::set<Digest> seen;
  const auto add = [&](uint64_t size, const std::vector<uint64_t>& way) {
    std::string bytes = SimDisk::Compose(file, size, way);
    const Digest digest = DigestOf(bytes);
    if (!seen.insert(digest).second) return;
    outcomes.list.push_back({.file = std::make_shared<ImageFile>(ImageFile{
                                 .data = std::move(bytes), .frozen = true}),
                             .digest = digest,
                             .size = size,
                             .blocks = way});
  };
  // Lists the content in which nothing pending survived, then the one in which
  // everything did.
  const auto plain = [&](uint64_t size, Blocks unlike, uint64_t outcome) {
    for (size_t i = 0; i < extents.size(); ++i) {
      if (extents[i].size != size || extents[i].blocks == unlike) continue;
      add(size, AllAlike(choices[i], outcome));
      return;
    }
  };
  if (data == FileData::kPending) {
    plain(file.durable_size, Blocks::kAllNew, SimDisk::kOld);
  }
  plain(file.data.size(), Blocks::kAllOld, SimDisk::kNew);
  // A file that was written again with its old content has only one of them.
  outcomes.complete = outcomes.list.size() - 1;
  const bool all = outcomes.total <= static_cast<double>(bound_.contents_up_to);
  for (size_t i = 0; i < extents.size(); ++i) {
    for (const auto& way : all ? AllWays(choices[i]) : FewWays(choices[i])) {
      add(extents[i].size, way);
    }
  }
  if (all) outcomes.total = static_cast<double>(outcomes.list.size());
  std::vector<uint64_t> words;
  for (const auto& outcome : outcomes.list) {
    words.push_back(outcome.digest.high);
    words.push_back(outcome.digest.low);
  }
  outcomes.look = DigestOf(std::as_bytes(std::span(words)));
  return outcomes;
}

}  // namespace gauntlet
