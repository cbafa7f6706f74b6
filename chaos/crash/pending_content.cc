#include "chaos/crash/pending_content.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gauntlet {
namespace {

constexpr uint32_t kSectors = kCrashBlockBytes / kCrashSectorBytes;
// Number of outcomes of a block that may be torn: old, new, or torn at one of
// the sector boundaries, with a new front or a new back.
constexpr double kTornOutcomes = 2 + 2 * (kSectors - 1);

bool Contains(const std::vector<BlockRange>& ranges, uint64_t block) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const BlockRange& one) {
    return one.first <= block && block < one.last;
  });
}

std::vector<uint64_t> BlocksOf(const std::vector<BlockRange>& ranges,
                               size_t at_most) {
  std::vector<uint64_t> blocks;
  for (const BlockRange& range : ranges) {
    for (uint64_t block = range.first; block < range.last; ++block) {
      if (blocks.size() == at_most) return blocks;
      blocks.push_back(block);
    }
  }
  return blocks;
}

// Returns at most `at_most` blocks of the ranges: the first, the last and the
// middle one, then the others in order.
std::vector<uint64_t> TypicalBlocks(const std::vector<BlockRange>& ranges,
                                    size_t at_most) {
  std::vector<uint64_t> blocks;
  if (ranges.empty()) return blocks;
  const BlockRange& middle = ranges[ranges.size() / 2];
  blocks = {ranges.front().first, ranges.back().last - 1,
            middle.first + (middle.last - middle.first) / 2};
  for (const uint64_t block : BlocksOf(ranges, at_most + 3))
    blocks.push_back(block);
  std::vector<uint64_t> distinct;
  for (const uint64_t block : blocks) {
    if (std::ranges::find(distinct, block) == distinct.end())
      distinct.push_back(block);
  }
  if (distinct.size() > at_most) distinct.resize(at_most);
  return distinct;
}

// Returns each outcome of a block; the first is kNew.
std::vector<BlockOutcome> OutcomesOfBlock(uint64_t block, bool may_be_torn) {
  using Kind = BlockOutcome::Kind;
  std::vector<BlockOutcome> outcomes = {{.block = block, .kind = Kind::kNew},
                                        {.block = block, .kind = Kind::kOld}};
  for (uint32_t sectors = 1; may_be_torn && sectors < kSectors; ++sectors) {
    for (const Kind kind : {Kind::kNewFront, Kind::kOldFront})
      outcomes.push_back({.block = block, .kind = kind, .sectors = sectors});
  }
  return outcomes;
}

}  // namespace

void Normalise(std::vector<BlockRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const BlockRange& a, const BlockRange& b) {
              return a.first < b.first;
            });
  std::vector<BlockRange> joined;
  for (const BlockRange& range : ranges) {
    if (range.first >= range.last) continue;
    if (!joined.empty() && range.first <= joined.back().last) {
      joined.back().last = std::max(joined.back().last, range.last);
    } else {
      joined.push_back(range);
    }
  }
  ranges = std::move(joined);
}

uint64_t CountBlocks(const std::vector<BlockRange>& ranges) {
  uint64_t blocks = 0;
  for (const BlockRange& range : ranges) blocks += range.last - range.first;
  return blocks;
}

FileOutcome PendingContent::Kept(uint64_t file) const {
  return {.file = file, .size = kept_size};
}

FileOutcome PendingContent::Lost(uint64_t file) const {
  const bool has_blocks = !torn.empty() || !whole.empty();
  return {.file = file,
          .size = old->size(),
          .rest = has_blocks ? UnsyncedData::kLost : UnsyncedData::kKept};
}

bool PendingContent::Allows(const FileOutcome& outcome) const {
  const uint64_t size = outcome.size;
  const bool is_multiple =
      size % kCrashBlockBytes == 0 && low < size && size < high;
  if (!is_multiple && std::ranges::find(sizes, size) == sizes.end())
    return false;
  const bool is_longer = appends_whole && size > old->size();
  const uint64_t blocks =
      is_longer ? old->size() / kCrashBlockBytes
                : (size + kCrashBlockBytes - 1) / kCrashBlockBytes;
  return std::ranges::all_of(outcome.blocks, [&](const BlockOutcome& one) {
    const bool is_torn = one.kind == BlockOutcome::Kind::kNewFront ||
                         one.kind == BlockOutcome::Kind::kOldFront;
    return one.block < blocks && (Contains(torn, one.block) ||
                                  (!is_torn && Contains(whole, one.block)));
  });
}

std::shared_ptr<const FileContent> PendingContent::Compose(
    const FileOutcome& outcome) const {
  if (outcome == Lost(outcome.file)) return old;
  if (outcome == Kept(outcome.file) && stale.empty() &&
      kept_size == now->size()) {
    return now;
  }
  FileContent content = *now;
  content.Resize(outcome.size);
  uint64_t end_of_old = outcome.size;
  if (appends_whole && outcome.size > old->size())
    end_of_old = old->size() / kCrashBlockBytes * kCrashBlockBytes;
  const auto overlay = [&](const FileContent& from, uint64_t begin,
                           uint64_t end) {
    end = std::min(end, end_of_old);
    if (begin < end) content.Overlay(from, begin, end);
  };
  const auto overlay_old = [&](const std::vector<BlockRange>& ranges) {
    for (const BlockRange& range : ranges) {
      overlay(*old, range.first * kCrashBlockBytes,
              range.last * kCrashBlockBytes);
    }
  };
  overlay_old(stale);
  if (outcome.rest == UnsyncedData::kLost) {
    overlay_old(torn);
    overlay_old(whole);
  }
  for (const BlockOutcome& block : outcome.blocks) {
    using Kind = BlockOutcome::Kind;
    const uint64_t begin = block.block * kCrashBlockBytes;
    const uint64_t end = begin + kCrashBlockBytes;
    uint64_t cut = end;
    if (block.kind == Kind::kNewFront || block.kind == Kind::kOldFront)
      cut = begin + block.sectors * kCrashSectorBytes;
    const bool front_is_new =
        block.kind == Kind::kNew || block.kind == Kind::kNewFront;
    overlay(front_is_new ? *now : *old, begin, cut);
    overlay(front_is_new ? *old : *now, cut, end);
  }
  return std::make_shared<const FileContent>(std::move(content));
}

int64_t PendingContent::TimeOf(const FileOutcome& outcome) const {
  return outcome == Lost(outcome.file) ? old_time : now_time;
}

double PendingContent::CountOutcomes() const {
  double multiples = 0;
  if (low < high) {
    multiples = static_cast<double>((high - 1) / kCrashBlockBytes -
                                    low / kCrashBlockBytes);
  }
  const double blocks =
      std::pow(kTornOutcomes, static_cast<double>(CountBlocks(torn))) *
      std::pow(2.0, static_cast<double>(CountBlocks(whole)));
  return std::min(1e300,
                  (static_cast<double>(sizes.size()) + multiples) * blocks);
}

std::vector<uint64_t> PendingContent::SizesByLikelihood(size_t bound) const {
  std::vector<uint64_t> likely;
  const auto add = [&](uint64_t size) {
    if (Allows({.size = size}) &&
        std::ranges::find(likely, size) == likely.end() &&
        likely.size() < bound) {
      likely.push_back(size);
    }
  };
  const auto block_at = [](uint64_t size) {
    return size / kCrashBlockBytes * kCrashBlockBytes;
  };
  add(kept_size);
  if (kept_size > 0) add(block_at(kept_size - 1));
  add(block_at((old->size() + kept_size) / 2));
  add(block_at(old->size()) + kCrashBlockBytes);
  for (const uint64_t size : sizes) add(size);
  for (uint64_t size = block_at(low) + kCrashBlockBytes;
       size < high && likely.size() < bound; size += kCrashBlockBytes) {
    add(size);
  }
  return likely;
}

std::vector<FileOutcome> PendingContent::Outcomes(uint64_t file,
                                                  size_t bound) const {
  std::vector<FileOutcome> outcomes = {Lost(file)};
  const auto add = [&](const FileOutcome& outcome) {
    if (outcomes.size() < bound && Allows(outcome) && outcome != Kept(file) &&
        std::ranges::find(outcomes, outcome) == outcomes.end()) {
      outcomes.push_back(outcome);
    }
  };
  const std::vector<uint64_t> likely = SizesByLikelihood(bound + 1);
  // Adds each likely size with its unsynced bytes, and then without them.
  for (const uint64_t size : likely) {
    add({.file = file, .size = size});
    if (!torn.empty() || !whole.empty())
      add({.file = file, .size = size, .rest = UnsyncedData::kLost});
    if (outcomes.size() >= std::max<size_t>(bound / 2, 4)) break;
  }
  AddOverwritten(outcomes, file, bound);
  for (const uint64_t size : likely) add({.file = file, .size = size});
  return outcomes;
}

void PendingContent::AddOverwritten(std::vector<FileOutcome>& outcomes,
                                    uint64_t file, size_t bound) const {
  const auto add = [&](FileOutcome outcome) {
    if (outcomes.size() < bound && Allows(outcome))
      outcomes.push_back(std::move(outcome));
  };
  if (CountOutcomes() <= static_cast<double>(bound)) {
    std::vector<FileOutcome> all;
    for (const uint64_t size : SizesByLikelihood(SIZE_MAX))
      all.push_back({.file = file, .size = size});
    for (const auto* const ranges : {&torn, &whole}) {
      for (const uint64_t block : BlocksOf(*ranges, SIZE_MAX)) {
        const size_t count = all.size();
        for (const BlockOutcome& one :
             OutcomesOfBlock(block, ranges == &torn)) {
          for (size_t i = 0; one.kind != BlockOutcome::Kind::kNew && i < count;
               ++i) {
            FileOutcome with = all[i];
            with.blocks.push_back(one);
            if (Allows(with)) all.push_back(std::move(with));
          }
        }
      }
    }
    for (FileOutcome& outcome : all) {
      std::ranges::sort(outcome.blocks, {}, &BlockOutcome::block);
      add(std::move(outcome));
    }
    return;
  }
  using Kind = BlockOutcome::Kind;
  const std::array<BlockOutcome, 7> kinds = {
      {{.kind = Kind::kOld},
       {.kind = Kind::kNewFront, .sectors = kSectors / 2},
       {.kind = Kind::kOldFront, .sectors = kSectors / 2},
       {.kind = Kind::kNewFront, .sectors = 1},
       {.kind = Kind::kOldFront, .sectors = 1},
       {.kind = Kind::kNewFront, .sectors = kSectors - 1},
       {.kind = Kind::kOldFront, .sectors = kSectors - 1}}};
  const auto blocks = TypicalBlocks(torn, bound);
  const auto whole_blocks = TypicalBlocks(whole, bound);
  for (BlockOutcome one : kinds) {
    for (const auto* const list : {&blocks, &whole_blocks}) {
      for (const uint64_t block : *list) {
        one.block = block;
        add({.file = file, .size = kept_size, .blocks = {one}});
        if (one.kind != Kind::kOld) continue;
        add({.file = file,
             .size = kept_size,
             .rest = UnsyncedData::kLost,
             .blocks = {{.block = block, .kind = Kind::kNew}}});
      }
    }
  }
}

}  // namespace gauntlet
