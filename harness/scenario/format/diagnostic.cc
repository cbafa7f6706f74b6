#include "harness/scenario/format/diagnostic.h"

#include <algorithm>
#include <utility>

#include "engine/text/nearest_names.h"
#include "engine/utf8.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxShownLine = 160;
constexpr size_t kMaxListedNames = 8;

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

std::vector<Diagnostic> SortedByPlace(std::vector<Diagnostic> list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return a.place < b.place;
                   });
  return list;
}

}  // namespace

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
