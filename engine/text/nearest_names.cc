#include "engine/text/nearest_names.h"

#include <algorithm>
#include <utility>

namespace gauntlet {
namespace {

// A mistyped name of up to this length may have one edit only.
constexpr size_t kMaxOneEditLength = 3;
// Two edits may change half of a mistyped name of this length.
constexpr size_t kHalfEditedLength = 4;
// A name of at least this length may abbreviate another.
constexpr size_t kMinAbbreviation = 3;

// Returns the optimal string alignment distance: the number of insertions,
// deletions, substitutions, and swaps of neighbours. Computes Wagner and
// Fischer's table, one row at a time.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before;  // row i - 2
  std::vector<size_t> last(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::vector<size_t> row(b.size() + 1);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = std::exchange(last, std::move(row));
  }
  return last[b.size()];
}

// Returns true iff `other` has several parts between dots, and `name` has all
// of them in the same order.
bool HasPartsOf(std::string_view other, std::string_view name) {
  if (other.find('.') == other.npos) return false;
  while (!other.empty()) {
    const size_t end = std::min(other.find('.'), other.size());
    const std::string_view part = other.substr(0, end);
    const size_t name_end = std::min(name.find('.'), name.size());
    if (name.empty()) return false;
    if (name.substr(0, name_end) == part) {
      other.remove_prefix(std::min(end + 1, other.size()));
    }
    name.remove_prefix(std::min(name_end + 1, name.size()));
  }
  return true;
}

// Returns the name without the leading dotted parts that `other` has too:
// "write" for "ckpt.write" and "ckpt.shard.write".
std::string_view WithoutSharedParts(std::string_view name,
                                    std::string_view other) {
  const size_t shared = static_cast<size_t>(
      std::ranges::mismatch(name, other).in1 - name.begin());
  const size_t dot = name.substr(0, shared).rfind('.');
  return dot == name.npos ? name : name.substr(dot + 1);
}

// Returns the name of an option without its leading dashes, which say nothing
// about it.
std::string_view WithoutDashes(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

// Returns the number of letters of `a` that `b` has too, in any order.
size_t SharedLetters(std::string_view a, std::string b) {
  const auto takes = [&b](char letter) {
    const size_t at = b.find(letter);
    if (at == b.npos) return false;
    b.erase(at, 1);
    return true;
  };
  return static_cast<size_t>(std::ranges::count_if(a, takes));
}

// Returns the maximum edit distance at which a name counts as near. Shared
// parts do not count: they say nothing about the rest of the name.
size_t MaxEdits(std::string_view mistyped, std::string_view name) {
  const std::string_view rest = WithoutSharedParts(mistyped, name);
  if (rest.size() < mistyped.size()) {
    return std::max<size_t>(1, rest.size() / 3);
  }
  // In a name of four letters, a second edit is allowed only if the names have
  // three letters in common: "tyni" is near "tiny", but "nope" is not near
  // "name".
  if (mistyped.size() == kHalfEditedLength &&
      SharedLetters(mistyped, std::string(name)) + 1 < mistyped.size()) {
    return 1;
  }
  // Two edits turn three letters into any other word.
  return mistyped.size() <= kMaxOneEditLength ? 1 : mistyped.size() / 3 + 1;
}

}  // namespace

std::vector<std::string> NearestNames(std::string_view mistyped,
                                      const std::vector<std::string>& names) {
  if (mistyped.size() > 100) return {};
  const auto begins = [mistyped](const std::string& name) {
    return name.starts_with(mistyped);
  };
  // An abbreviation: the beginning of exactly one name.
  if (mistyped.size() >= kMinAbbreviation &&
      std::ranges::count_if(names, begins) == 1) {
    return {*std::ranges::find_if(names, begins)};
  }
  // Parts left out: "ckpt.write" for "ckpt.shard.write".
  for (const std::string& name : names) {
    if (HasPartsOf(mistyped, name)) return {name};
  }
  constexpr size_t kMost = 3;
  std::vector<std::string> nearest;
  const std::string_view typed = WithoutDashes(mistyped);
  size_t best = typed.size();
  for (const std::string& name : names) {
    const std::string_view bare = WithoutDashes(name);
    const size_t distance = EditDistance(typed, bare);
    if (distance > std::min(best, MaxEdits(typed, bare)) ||
        distance >= bare.size()) {
      continue;
    }
    if (distance < best) nearest.clear();
    best = distance;
    if (nearest.size() < kMost) nearest.push_back(name);
  }
  return nearest;
}

std::string NearestName(std::string_view mistyped,
                        const std::vector<std::string>& names) {
  const std::vector<std::string> nearest = NearestNames(mistyped, names);
  return nearest.empty() ? "" : nearest.front();
}

}  // namespace gauntlet
