#include "harness/scenario/format/diagnostic.h"

#include <algorithm>
#include <utility>

#include "engine/utf8.h"
#include "harness/scenario/format/nearest_names.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxShownLine = 160;
constexpr size_t kMaxListedNames = 8;

// Returns the Levenshtein distance (Wagner and Fischer's table, one row at a
// time).
// Counts insertions, deletions, substitutions, and swaps of neighbours: the
// optimal string alignment distance.
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

std::string_view LineOf(std::string_view text, size_t line) {
  for (; line > 1; --line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + 1);
  }
  std::string_view found = text.substr(0, text.find('\n'));
  if (found.ends_with('\r')) found.remove_suffix(1);
  return found;
}

// Replaces control characters, which would move the caret or affect the
// terminal, and bytes that are not UTF-8.
std::string Printable(std::string_view text) {
  std::string printable(text);
  const bool is_text = IsUtf8(text);
  for (char& c : printable) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
    if (byte >= 0x80 && !is_text) c = '?';
  }
  return printable;
}

void AddOnce(std::vector<Diagnostic>& list, Diagnostic one) {
  if (std::find(list.begin(), list.end(), one) == list.end()) {
    list.push_back(std::move(one));
  }
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

std::vector<Diagnostic> SortedByPlace(std::vector<Diagnostic> list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return a.place < b.place;
                   });
  return list;
}

}  // namespace

std::vector<std::string> NearestNames(std::string_view mistyped,
                                      const std::vector<std::string>& names) {
  if (mistyped.size() > 100) return {};
  const auto begins = [mistyped](const std::string& name) {
    return name.starts_with(mistyped);
  };
  // An abbreviation: the beginning of exactly one name.
  constexpr size_t kTelling = 3;
  if (mistyped.size() >= kTelling &&
      std::ranges::count_if(names, begins) == 1) {
    return {*std::ranges::find_if(names, begins)};
  }
  // Parts left out: "ckpt.write" for "ckpt.shard.write".
  for (const std::string& name : names) {
    if (HasPartsOf(mistyped, name)) return {name};
  }
  constexpr size_t kMost = 3;
  std::vector<std::string> nearest;
  // Allows one edit for short words, as two edits turn three letters into any
  // other word.
  size_t best = mistyped.size() <= kTelling ? 1 : mistyped.size() / 3 + 1;
  for (const std::string& name : names) {
    const size_t distance = EditDistance(mistyped, name);
    if (distance > best || distance >= name.size()) continue;
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

std::string SuggestName(std::string_view mistyped,
                        const std::vector<std::string>& names) {
  const std::string nearest = NearestName(mistyped, names);
  if (!nearest.empty()) return fmt::format("did you mean {}?", nearest);
  if (names.empty() || names.size() > kMaxListedNames) return "";
  return fmt::format("one of {}", fmt::join(names, ", "));
}

std::string RenderDiagnostic(const Diagnostic& diagnostic,
                             std::string_view file, std::string_view text,
                             Severity severity) {
  const auto& [place, message, hint] = diagnostic;
  std::string out =
      fmt::format("{}:{}:{}: {}: {}\n", file, place.line, place.column,
                  severity == Severity::kError ? "error" : "warning", message);
  std::string shown = Printable(LineOf(text, place.line));
  if (shown.empty() || shown.size() > kMaxShownLine) {
    if (!hint.empty()) out += fmt::format("  {}\n", hint);
    return out;
  }
  const std::string number = std::to_string(place.line);
  out += fmt::format("  {} | {}\n", number, shown);
  out += fmt::format("  {:{}} | {:{}}^{}{}\n", "", number.size(), "",
                     place.column - 1, hint.empty() ? "" : " ", hint);
  return out;
}

void Diagnostics::Error(Place place, std::string message, std::string hint) {
  AddOnce(list_, {place, Printable(message), Printable(hint)});
}

void Diagnostics::Warning(Place place, std::string message, std::string hint) {
  AddOnce(warnings_, {place, Printable(message), Printable(hint)});
}

std::vector<Diagnostic> Diagnostics::Sorted() const {
  return SortedByPlace(list_);
}

std::vector<Diagnostic> Diagnostics::SortedWarnings() const {
  return SortedByPlace(warnings_);
}

Status ToStatus(const Diagnostics& diagnostics, std::string_view file) {
  const std::vector<Diagnostic> all = diagnostics.Sorted();
  const Diagnostic& first = all.front();
  std::string text = fmt::format("{}:{}:{}: {}", file, first.place.line,
                                 first.place.column, first.message);
  if (!first.hint.empty()) text += "; " + first.hint;
  if (all.size() > 1) text += fmt::format(" (and {} more)", all.size() - 1);
  return InvalidArgument(std::move(text));
}

}  // namespace gauntlet
