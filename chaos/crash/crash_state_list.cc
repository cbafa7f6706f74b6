#include "chaos/crash/crash_state_list.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "chaos/crash/name_choices.h"
#include "chaos/crash/tree_image.h"

namespace gauntlet {
namespace {

// The first kEarly operations of one kind on one name count as new. Names that
// differ only in digits count as one name.
constexpr uint64_t kEarly = 2;

// Number of crash points, spread evenly over the log, that are listed first.
constexpr uint64_t kSpreadPoints = 8;

enum class Round : uint8_t { kSpread, kFirstTimes, kOther };

struct PassOrder {
  Round round;
  int level;
};
constexpr std::array<PassOrder, 7> kPasses = {{{Round::kSpread, 0},
                                               {Round::kFirstTimes, 0},
                                               {Round::kFirstTimes, 1},
                                               {Round::kOther, 0},
                                               {Round::kOther, 1},
                                               {Round::kFirstTimes, 2},
                                               {Round::kOther, 2}}};

// Divides the log into equal parts. Returns the first crash point at or after
// each boundary.
std::set<uint64_t> SpreadPoints(const OperationLog& log,
                                const std::set<uint64_t>& left_out) {
  const uint64_t count = log.operations().size();
  std::set<uint64_t> points;
  for (uint64_t i = 1; i <= kSpreadPoints; ++i) {
    uint64_t point = count * i / (kSpreadPoints + 1);
    while (point <= count && (!IsCut(log, point) || left_out.contains(point)))
      ++point;
    if (point <= count) points.insert(point);
  }
  return points;
}

std::string WithoutDigits(const std::string& path) {
  std::string text;
  for (const char c : path) {
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit && text.ends_with('#')) continue;
    text += is_digit ? '#' : c;
  }
  return text;
}

// Returns, for each point, true if the operation before or after it counts as
// new (kEarly).
std::vector<bool> EarlyPoints(const std::vector<FileOperation>& operations) {
  std::map<std::tuple<OperationKind, std::string, std::string>, uint64_t> done;
  std::vector<bool> is_early(operations.size() + 1);
  is_early[0] = true;
  for (size_t i = 0; i < operations.size(); ++i) {
    const FileOperation& op = operations[i];
    const auto key = std::tuple(op.kind, WithoutDigits(op.name.path),
                                WithoutDigits(op.to.path));
    if (++done[key] > kEarly) continue;
    is_early[i] = true;
    is_early[i + 1] = true;
  }
  return is_early;
}

// Lengths at which a write is torn; some of them are random.
struct TornPlaces {
  uint64_t half = 0;
  std::vector<uint64_t> others;
  uint64_t left_out = 0;
};

TornPlaces TornPlacesOf(const FileOperation& write, const CrashBounds& bounds,
                        std::mt19937_64 random) {
  TornPlaces places = {.half = write.bytes.length / 2};
  const uint64_t end = write.offset + write.bytes.length;
  // The write contains `count` block boundaries, numbered from 1.
  const uint64_t before = write.offset / kCrashBlockBytes;
  const uint64_t count = (end - 1) / kCrashBlockBytes - before;
  const auto add = [&](uint64_t boundary) {
    places.others.push_back((before + boundary) * kCrashBlockBytes -
                            write.offset);
  };
  if (count < bounds.torn_blocks_up_to) {
    for (uint64_t i = 1; i <= count; ++i) add(i);
    return places;
  }
  std::set<uint64_t> chosen = {1, count};
  while (chosen.size() < std::min<uint64_t>(count, 2 + bounds.torn_drawn))
    chosen.insert(1 + random() % count);
  for (const uint64_t boundary : chosen) add(boundary);
  places.left_out = count - chosen.size();
  return places;
}

using PendingFile = std::pair<NodeId, const PendingContent*>;

std::vector<PendingFile> NewestFirst(const UnsyncedChanges::Survivors& left) {
  std::vector<PendingFile> files;
  for (const auto& [number, pending] : left.files)
    files.emplace_back(number, &pending);
  std::ranges::stable_sort(files, std::greater<>(), [](const PendingFile& one) {
    return one.second->last_operation;
  });
  return files;
}

double CountCombinations(const UnsyncedChanges::Survivors& left) {
  double count = 1;
  for (const auto& [number, pending] : left.files)
    count = std::min(1e300, count * pending.CountOutcomes());
  return count;
}

}  // namespace

CrashStateList::CrashStateList(const OperationLog& log,
                               CrashListOptions options)
    : log_(log),
      options_(std::move(options)),
      digests_(log),
      spread_(SpreadPoints(log, options_.left_out)),
      is_early_(EarlyPoints(log.operations())),
      walk_(log) {
  counts_.mapped_writes = static_cast<uint64_t>(
      std::ranges::count(log.operations(), true, &FileOperation::by_mapping));
}

CrashStateList::Level CrashStateList::level() const {
  return static_cast<Level>(kPasses[pass_].level);
}

bool CrashStateList::IsOfPass(uint64_t point) const {
  const bool is_spread = spread_.contains(point);
  const Round round = kPasses[pass_].round;
  if (round == Round::kSpread) return is_spread;
  // The first pass has listed the likely states of this point.
  if (is_spread && level() == Level::kLikely) return false;
  return is_early_[point] == (round == Round::kFirstTimes);
}

// Advances to the next point of this pass at which a crash may come, or to the
// first one of a later pass. Returns false if there is none.
Result<bool> CrashStateList::GoToNextPoint() {
  const uint64_t end =
      std::min<uint64_t>(options_.last_point, log_.operations().size());
  for (; pass_ < kPasses.size(); ++pass_, walk_.emplace(log_), next_ = 0) {
    next_ = std::max(next_, options_.first_point);
    while (next_ <= end) {
      const uint64_t point = next_++;
      if (!IsOfPass(point) || !IsCut(log_, point)) continue;
      RETURN_IF_ERROR(walk_->AdvanceTo(point));
      return true;
    }
  }
  return false;
}

Result<std::optional<CrashState>> CrashStateList::Next() {
  while (ready_.empty()) {
    ASSIGN_OR_RETURN(const bool is_there, GoToNextPoint());
    if (!is_there) return std::optional<CrashState>();
    RETURN_IF_ERROR(ListPoint());
  }
  std::optional<CrashState> state = std::move(ready_.front());
  ready_.pop_front();
  return state;
}

Status CrashStateList::ListPoint() {
  const bool is_left_out = options_.left_out.contains(walk_->position());
  if (is_left_out)
    return Lists(CrashStateKind::kTornWrite) ? ListTorn() : OkStatus();
  if (Lists(CrashStateKind::kKill) && level() == Level::kLikely) {
    RETURN_IF_ERROR(Consider({.operations = walk_->position()}, walk_->now()));
  }
  if (Lists(CrashStateKind::kTornWrite)) RETURN_IF_ERROR(ListTorn());
  if (!Lists(CrashStateKind::kPowerLoss)) return OkStatus();
  for (const DurabilityProfile profile : options_.profiles)
    RETURN_IF_ERROR(ListPowerLosses(profile));
  return OkStatus();
}

Status CrashStateList::ListTorn() {
  const uint64_t point = walk_->position();
  if (level() == Level::kCombined || point == log_.operations().size())
    return OkStatus();
  const FileOperation& write = log_.operations()[point];
  if (write.kind != OperationKind::kWrite || write.by_mapping ||
      write.bytes.length < 2 || options_.left_out.contains(point + 1)) {
    return OkStatus();
  }
  const TornPlaces places =
      TornPlacesOf(write, options_.bounds,
                   std::mt19937_64(options_.seed * 1'000'003 + point));
  const bool is_first = level() == Level::kLikely;
  if (is_first) counts_.torn_left_out += places.left_out;
  for (const uint64_t bytes :
       is_first ? std::vector{places.half} : places.others) {
    const CrashState state = {.kind = CrashStateKind::kTornWrite,
                              .operations = point,
                              .torn_bytes = bytes};
    ASSIGN_OR_RETURN(const DirectoryTree tree, walk_->TreeOf(state));
    RETURN_IF_ERROR(Consider(state, tree));
  }
  return OkStatus();
}

Status CrashStateList::ListPowerLosses(DurabilityProfile profile) {
  const UnsyncedChanges& changes = walk_->unsynced(profile);
  const size_t count = changes.names().size();
  const bool is_weak = profile == DurabilityProfile::kWeak;
  if (is_weak && level() == Level::kLikely) return OkStatus();
  const CrashBounds& bounds = options_.bounds;
  const auto append = [](std::vector<NameChoice>& to,
                         const std::vector<NameChoice>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  const bool is_likely = level() == Level::kLikely;
  auto choices = PrefixesOf(count, is_likely ? 0 : bounds.newest_names);
  if (is_weak) append(choices, OneMissing(count, bounds.newest_names));
  if (is_weak && level() == Level::kCombined) {
    for (const NameChoice& shorter : PrefixesOf(count, bounds.newest_names)) {
      if (shorter.prefix < count)
        append(choices, OneMissing(shorter.prefix, bounds.newest_names));
    }
    if (count <= bounds.all_names_up_to) append(choices, OtherSubsets(count));
  }
  double largest = 0;
  for (const NameChoice& choice : choices) {
    CrashState state = {.kind = CrashStateKind::kPowerLoss,
                        .operations = walk_->position(),
                        .profile = profile};
    if (choice.prefix < count)
      state.lost_from = changes.names()[choice.prefix].index + 1;
    for (const size_t i : choice.lost)
      state.lost.push_back(changes.names()[i].index + 1);
    const auto left = changes.With(choice.Kept(count));
    if (!left) continue;
    largest = std::max(largest, CountCombinations(*left));
    RETURN_IF_ERROR(ListFiles(state, *left));
  }
  if (level() == Level::kCombined) {
    const double all =
        is_weak
            ? std::ldexp(1.0, static_cast<int>(std::min<size_t>(count, 900)))
            : static_cast<double>(count + 1);
    const double missing =
        std::max(0.0, all - static_cast<double>(choices.size()));
    counts_.power_losses_left_out += std::min(1e300, missing * largest);
  }
  return OkStatus();
}

Status CrashStateList::ListFiles(CrashState state,
                                 const UnsyncedChanges::Survivors& left) {
  const double combinations = CountCombinations(left);
  const uint64_t considered = counts_.considered;
  if (level() == Level::kCombined &&
      combinations <= options_.bounds.combinations_up_to) {
    return ListAllCombinations(state, left);
  }
  RETURN_IF_ERROR(ConsiderWith(state, {}, left));
  if (!left.files.empty()) {
    state.other_files = UnsyncedData::kLost;
    RETURN_IF_ERROR(ConsiderWith(state, {}, left));
    RETURN_IF_ERROR(ListOneDiffers(state, left));
  }
  if (level() == Level::kCombined) {
    counts_.power_losses_left_out +=
        std::max(0.0, combinations -
                          static_cast<double>(counts_.considered - considered));
  }
  return OkStatus();
}

Status CrashStateList::ListAllCombinations(
    const CrashState& state, const UnsyncedChanges::Survivors& left) {
  std::vector<std::vector<FileOutcome>> outcomes;
  for (const auto& [number, pending] : left.files) {
    outcomes.push_back(pending.Outcomes(number, SIZE_MAX));
    outcomes.back().insert(outcomes.back().begin(), pending.Kept(number));
  }
  std::vector<size_t> digits(outcomes.size());
  while (true) {
    std::vector<FileOutcome> files;
    for (size_t i = 0; i < digits.size(); ++i) {
      if (digits[i] > 0) files.push_back(outcomes[i][digits[i]]);
    }
    RETURN_IF_ERROR(ConsiderWith(state, std::move(files), left));
    size_t i = 0;
    while (i < digits.size() && ++digits[i] == outcomes[i].size())
      digits[i++] = 0;
    if (i == digits.size()) return OkStatus();
  }
}

// For each of the newest files, lists its outcomes with all other files kept
// and, except at level kLikely, also with all others lost. The first two levels
// list fewer outcomes than kCombined.
Status CrashStateList::ListOneDiffers(CrashState state,
                                      const UnsyncedChanges::Survivors& left) {
  constexpr size_t kFewOutcomes = 6;
  const bool is_all_names = state.lost_from == 0 && state.lost.empty();
  size_t outcomes_of_one = options_.bounds.contents_up_to;
  if (level() == Level::kCommon && is_all_names) outcomes_of_one = kFewOutcomes;
  if (level() == Level::kLikely || (level() == Level::kCommon && !is_all_names))
    outcomes_of_one = 1;
  std::vector<PendingFile> files = NewestFirst(left);
  if (files.size() > options_.bounds.newest_files)
    files.resize(options_.bounds.newest_files);
  for (const auto& [number, pending] : files) {
    const std::vector<FileOutcome> outcomes =
        pending->Outcomes(number, outcomes_of_one);
    for (const UnsyncedData others :
         {UnsyncedData::kKept, UnsyncedData::kLost}) {
      state.other_files = others;
      if (left.files.size() == 1 && others == UnsyncedData::kLost) break;
      if (level() == Level::kLikely && others == UnsyncedData::kLost) break;
      if (others == UnsyncedData::kLost) {
        RETURN_IF_ERROR(ConsiderWith(state, {pending->Kept(number)}, left));
      }
      for (const FileOutcome& outcome : outcomes)
        RETURN_IF_ERROR(ConsiderWith(state, {outcome}, left));
    }
  }
  return OkStatus();
}

Status CrashStateList::ConsiderWith(CrashState state,
                                    std::vector<FileOutcome> files,
                                    const UnsyncedChanges::Survivors& left) {
  state.files = std::move(files);
  return Consider(state, TreeWith(left, state.other_files, state.files));
}

Status CrashStateList::Consider(const CrashState& state,
                                const DirectoryTree& tree) {
  ++counts_.considered;
  ASSIGN_OR_RETURN(const Digest image,
                   ImageOf(tree, log_.list().directories.size(), digests_));
  std::vector<CrashState>& equal = seen_[image];
  const bool is_new = equal.empty();
  if (!is_new) ++counts_.equal;
  CrashState considered = state;
  considered.image = image;
  Keep(considered, equal);
  if (is_new) ready_.push_back(std::move(considered));
  return OkStatus();
}

// Adds the state to `equal`, the states whose directories have the same image.
// Keeps only two states of each kind and profile: those with the fewest and the
// most operations.
void CrashStateList::Keep(const CrashState& state,
                          std::vector<CrashState>& equal) {
  const auto key = [](const CrashState& one) {
    return std::pair(one.kind, one.profile);
  };
  const auto begin = std::ranges::lower_bound(equal, key(state), {}, key);
  const auto end = std::ranges::upper_bound(equal, key(state), {}, key);
  const bool has_both = end - begin == 2;
  if (begin == end || state.operations < begin->operations) {
    if (has_both) {
      *begin = state;
    } else {
      equal.insert(begin, state);
    }
  } else if (state.operations > std::prev(end)->operations) {
    if (has_both) {
      *std::prev(end) = state;
    } else {
      equal.insert(end, state);
    }
  }
}

std::vector<CrashState> CrashStateList::StatesOf(const Digest& image) const {
  const auto found = seen_.find(image);
  return found == seen_.end() ? std::vector<CrashState>() : found->second;
}

}  // namespace gauntlet
