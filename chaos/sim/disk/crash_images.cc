#include "chaos/sim/disk/crash_images.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "chaos/sim/disk/odometer.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kFewNames = 24;
constexpr size_t kNewest = 8;
constexpr size_t kPlainFiles = 12;  // most files for Reach::kCombined

Digest Plus(const Digest& a, const Digest& b) {
  return {.high = a.high + b.high, .low = a.low + b.low};
}

// Combines the digest of a path with that of a name or a content.
Digest Mix(const Digest& path, const Digest& rest) {
  const uint64_t words[] = {path.high, path.low, rest.high, rest.low};
  return DigestOf(std::as_bytes(std::span(words)));
}

constexpr Digest kRootPath{.high = 1, .low = 1};
constexpr Digest kIsDirectory{.high = 2, .low = 2};

// Returns a subset of n elements: the first `prefix` of them. For each element
// in `turned`, the choice is inverted.
std::vector<bool> Subset(size_t n, size_t prefix,
                         std::initializer_list<size_t> turned) {
  std::vector<bool> subset(n, false);
  std::fill_n(subset.begin(), prefix, true);
  for (const size_t i : turned) subset[i] = !subset[i];
  return subset;
}

enum class Near { kNone, kOne, kTwo };
// Returns the empty and the full subset of n elements, and all subsets near one
// of these. `near` is the number of elements in which they may differ.
std::set<std::vector<bool>> NearEnds(size_t n, Near near) {
  std::set<std::vector<bool>> subsets;
  for (const size_t prefix : {size_t{0}, n}) {
    subsets.insert(Subset(n, prefix, {}));
    for (size_t i = 0; near != Near::kNone && i < n; ++i) {
      subsets.insert(Subset(n, prefix, {i}));
      for (size_t j = i + 1; near == Near::kTwo && j < n; ++j) {
        subsets.insert(Subset(n, prefix, {i, j}));
      }
    }
  }
  return subsets;
}

}  // namespace

CrashImages::CrashImages(const SimDisk& disk, const CrashBound& bound,
                         FileOutcomesCache& cache)
    : disk_(disk), bound_(bound), cache_(cache) {
  const std::vector<std::vector<bool>> choices = ChoicesOfNames();
  if (!disk.NamesInOrder()) {
    const int n =
        static_cast<int>(std::min(disk.pending_.size(), size_t{1000}));
    names_left_out_ = std::ldexp(1.0, n) - static_cast<double>(choices.size());
  }
  double largest = 1;
  std::map<Digest, size_t> seen;
  for (const std::vector<bool>& kept : choices) {
    AddNames(kept);
    Names& names = names_.back();
    const Digest look = Plus(names.look, names.base);
    const auto [known, is_new] = seen.try_emplace(look, names_.size() - 1);
    if (std::ranges::find(kept, false) == kept.end()) {
      everything_ = known->second;
    }
    if (is_new) {
      Count(names);
      largest = std::max(largest, TotalOf(names));
    } else {
      names_.pop_back();
    }
  }
  left_out_ += names_left_out_ * largest;
}

std::vector<std::vector<bool>> CrashImages::ChoicesOfNames() const {
  const size_t n = disk_.pending_.size();
  std::set<std::vector<bool>> choices;
  for (size_t i = 0; i <= n; ++i) choices.insert(Subset(n, i, {}));
  if (disk_.NamesInOrder()) return {choices.begin(), choices.end()};
  if (n < 64 && (uint64_t{1} << n) <= bound_.names_up_to) {
    std::vector<uint64_t> digits(n, 0);
    const std::vector<uint64_t> bases(n, 2);
    do {
      choices.emplace(digits.begin(), digits.end());
    } while (Advance(digits, bases));
    return {choices.begin(), choices.end()};
  }
  choices.merge(NearEnds(n, n <= kFewNames ? Near::kTwo : Near::kOne));
  for (size_t end = 0; end <= n; ++end) {
    const size_t oldest = n > kFewNames && end > kNewest ? end - kNewest : 0;
    for (size_t i = oldest; i < end; ++i) choices.insert(Subset(n, end, {i}));
  }
  return {choices.begin(), choices.end()};
}

void CrashImages::AddNames(const std::vector<bool>& kept) {
  Names names{.kept = kept, .entries = {}, .files = {}, .terms = {}};
  const SimDisk::KeptNames tree = disk_.NamesWith(kept);
  names.entries.push_back({.name = "", .inode = disk_.root_.get()});
  AddEntries(tree, *disk_.root_, kRootPath, names);
  names_.push_back(std::move(names));
}

void CrashImages::AddEntries(const SimDisk::KeptNames& kept,
                             const Inode& directory, Digest path,
                             Names& names) {
  const size_t parent = names.entries.size() - 1;
  const auto found = kept.directories.find(&directory);
  if (found == kept.directories.end()) return;
  for (const auto& [name, inode] : found->second) {
    const Digest here = Mix(path, DigestOf(name));
    Entry entry{.name = name, .parent = parent, .inode = inode.get()};
    if (inode->kind == FileKind::kDirectory) {
      names.base = Plus(names.base, Mix(here, kIsDirectory));
      names.entries.push_back(std::move(entry));
      AddEntries(kept, *inode, here, names);
      continue;
    }
    entry.outcomes = OutcomesOf(*inode, kept.flushed.contains(inode.get())
                                            ? FileData::kFlushed
                                            : FileData::kPending);
    const auto& list = entry.outcomes->list;
    if (list.size() == 1) {
      names.base = Plus(names.base, Mix(here, list[0].digest));
    } else {
      names.look = Plus(names.look, Mix(here, entry.outcomes->look));
      entry.pending = names.files.size();
      names.files.push_back(names.entries.size());
      std::vector<Digest>& terms = names.terms.emplace_back();
      terms.reserve(list.size());
      for (const auto& outcome : list) {
        terms.push_back(Mix(here, outcome.digest));
      }
    }
    names.entries.push_back(std::move(entry));
  }
}

std::shared_ptr<const FileOutcomes> CrashImages::OutcomesOf(const Inode& file,
                                                            FileData data) {
  auto& [version, outcomes] = cache_[{file.number, data}];
  if (outcomes == nullptr || version != file.version) {
    outcomes = std::make_shared<FileOutcomes>(ListOutcomes(file, data));
    version = file.version;
  }
  return outcomes;
}

double CrashImages::TotalOf(const Names& names) const {
  double total = 1;
  for (const size_t file : names.files) {
    total *= names.entries[file].outcomes->total;
  }
  return total;
}

// Sets names.reach. Counts the outcomes of this choice of names within the
// bound, and those left out.
void CrashImages::Count(Names& names) {
  const size_t n = names.files.size();
  double listed = 1;
  uint64_t partial = 0;
  for (const auto& terms : names.terms) {
    listed *= static_cast<double>(terms.size());
    partial += terms.size() - 2;
  }
  partial *= n > 1 ? 2 : 1;
  uint64_t enumerated = 0;
  if (names_left_out_ == 0 &&
      listed <= static_cast<double>(bound_.combinations_up_to)) {
    names.reach = Reach::kAll;
    enumerated = static_cast<uint64_t>(listed);
  } else if (names_left_out_ == 0 && n <= kPlainFiles) {
    names.reach = Reach::kCombined;
    enumerated = (uint64_t{1} << n) + partial;
  } else {
    const bool prefix = std::ranges::is_sorted(names.kept, std::greater<>());
    const auto kept = static_cast<size_t>(std::ranges::count(names.kept, true));
    const bool near =
        names_left_out_ == 0 || kept + kNewest >= names.kept.size();
    names.reach = prefix && near ? Reach::kPartial
                  : prefix       ? Reach::kOneDiffers
                                 : Reach::kAlike;
    enumerated =
        NearEnds(n, names.reach == Reach::kAlike ? Near::kNone : Near::kOne)
            .size() +
        (names.reach == Reach::kPartial ? partial : 0);
  }
  enumerated_ += enumerated;
  left_out_ += TotalOf(names) - static_cast<double>(enumerated);
}

void CrashImages::ForEach(const Visit& visit) const {
  CrashImage image;
  for (image.names = 0; image.names < names_.size(); ++image.names) {
    const Names& names = names_[image.names];
    image.files.assign(names.files.size(), 0);
    const bool goes_on = names.reach == Reach::kAll
                             ? VisitWhole(names, image, visit)
                             : VisitPlain(names, image, visit) &&
                                   (names.reach == Reach::kOneDiffers ||
                                    names.reach == Reach::kAlike ||
                                    VisitPartial(names, image, visit));
    if (!goes_on) return;
  }
}

bool CrashImages::VisitWhole(const Names& names, CrashImage& image,
                             const Visit& visit) const {
  image.hash = names.base;
  for (const auto& terms : names.terms) image.hash = Plus(image.hash, terms[0]);
  const auto change = [&](size_t i, uint32_t to) {
    const Digest& old_term = names.terms[i][image.files[i]];
    const Digest& new_term = names.terms[i][to];
    image.hash.high += new_term.high - old_term.high;
    image.hash.low += new_term.low - old_term.low;
    image.files[i] = to;
  };
  while (true) {
    if (!visit(image)) return false;
    size_t i = 0;
    for (; i < image.files.size(); ++i) {
      const uint32_t next = image.files[i] + 1;
      if (next < names.terms[i].size()) {
        change(i, next);
        break;
      }
      change(i, 0);
    }
    if (i == image.files.size()) return true;
  }
}

bool CrashImages::VisitPlain(const Names& names, CrashImage& image,
                             const Visit& visit) const {
  const size_t n = names.files.size();
  const auto visit_subset = [&](const std::vector<bool>& complete) {
    image.hash = names.base;
    for (size_t i = 0; i < n; ++i) {
      image.files[i] = complete[i] ? 1 : 0;
      image.hash = Plus(image.hash, names.terms[i][image.files[i]]);
    }
    return visit(image);
  };
  if (names.reach != Reach::kCombined) {
    const auto subsets =
        NearEnds(n, names.reach == Reach::kAlike ? Near::kNone : Near::kOne);
    return std::all_of(subsets.begin(), subsets.end(), visit_subset);
  }
  for (uint64_t mask = 0; mask < (uint64_t{1} << n); ++mask) {
    std::vector<bool> complete(n);
    for (size_t i = 0; i < n; ++i) complete[i] = ((mask >> i) & 1) != 0;
    if (!visit_subset(complete)) return false;
  }
  return true;
}

bool CrashImages::VisitPartial(const Names& names, CrashImage& image,
                               const Visit& visit) const {
  const size_t n = names.files.size();
  for (const uint32_t rest : {0u, 1u}) {
    if (n == 1 && rest == 1) break;
    Digest all = names.base;
    image.files.assign(n, rest);
    for (const auto& terms : names.terms) all = Plus(all, terms[rest]);
    for (size_t i = 0; i < n; ++i) {
      const std::vector<Digest>& terms = names.terms[i];
      for (uint32_t outcome = 2; outcome < terms.size(); ++outcome) {
        image.files[i] = outcome;
        image.hash = {.high = all.high - terms[rest].high + terms[outcome].high,
                      .low = all.low - terms[rest].low + terms[outcome].low};
        if (!visit(image)) return false;
      }
      image.files[i] = rest;
    }
  }
  return true;
}

CrashImage CrashImages::Everything() const {
  CrashImage image{.names = everything_};
  const Names& names = names_[everything_];
  for (const size_t file : names.files) {
    image.files.push_back(
        static_cast<uint32_t>(names.entries[file].outcomes->complete));
  }
  return image;
}

void CrashImages::Build(const CrashImage& image, ImageDirectory& root) const {
  const Names& names = names_[image.names];
  root.entries.clear();
  std::vector<ImageDirectory*> directories(names.entries.size());
  directories[0] = &root;
  for (size_t i = 1; i < names.entries.size(); ++i) {
    const Entry& entry = names.entries[i];
    ImageEntry made{.name = entry.name, .file = {}, .directory = {}};
    if (entry.outcomes == nullptr) {
      made.directory = std::make_unique<ImageDirectory>();
      directories[i] = made.directory.get();
    } else {
      const size_t outcome =
          entry.pending == SIZE_MAX ? 0 : image.files[entry.pending];
      made.file = entry.outcomes->list[outcome].file;
    }
    directories[entry.parent]->entries.push_back(std::move(made));
  }
}

namespace {

std::string DescribeOutcome(uint64_t outcome, uint64_t cuts) {
  if (outcome == 0) return "lost";
  if (outcome == 1) return "there";
  const uint64_t torn = outcome - 2;
  return fmt::format("torn, {} {} of {} sectors there",
                     torn < cuts ? "the first" : "all but the first",
                     1 + torn % cuts, cuts + 1);
}

}  // namespace

std::vector<std::string> CrashImages::Describe(const CrashImage& image,
                                               const DiskLog& log) const {
  const Names& names = names_[image.names];
  std::vector<std::string> lines;
  for (size_t i = 0; i < names.kept.size(); ++i) {
    lines.push_back(fmt::format(
        "{}: {}", DescribeMicroOp(log.operations[disk_.pending_[i].operation]),
        names.kept[i] ? "there" : "lost"));
  }
  for (size_t i = 0; i < names.files.size(); ++i) {
    const Entry& entry = names.entries[names.files[i]];
    const FileOutcomes::Outcome& outcome = entry.outcomes->list[image.files[i]];
    lines.push_back(fmt::format(
        "{}: {} of {} bytes, {} durable", entry.inode->made_as, outcome.size,
        entry.inode->data.size(), entry.inode->durable_size));
    size_t block = 0;
    for (const auto& [index, dirty] : entry.inode->dirty) {
      if (block == outcome.blocks.size()) break;
      lines.push_back(fmt::format(
          "  {}: {}", DescribeMicroOp(log.operations[dirty.operation]),
          DescribeOutcome(outcome.blocks[block], SimDisk::kCuts)));
      ++block;
    }
  }
  return lines;
}

}  // namespace gauntlet
