#include "engine/cluster/resolver/host_list.h"

#include "engine/cluster/address_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxHosts = 10'000'000;
constexpr size_t kMaxText = size_t{1} << 20;
constexpr int64_t kMaxHostNumber = 999'999'999'999;

Status Malformed(std::string_view what, std::string_view found) {
  return InvalidArgument(
      fmt::format("host list: {}, found {}", what, QuotedText(found)));
}

// Removes the text up to the next `separator`, and the separator, from the
// front. Returns the text.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return taken;
}

// The numbers in one pair of brackets, such as "01-03,7": the first as text,
// and how many there are.
struct Bracket {
  std::string_view first;
  uint64_t values = 0;
};

Result<Bracket> ReadBracket(std::string_view text) {
  if (text.empty() || text.ends_with(',')) {
    return Malformed("expected numbers between the brackets", text);
  }
  Bracket bracket{.first = text.substr(0, text.find_first_of(",-"))};
  while (!text.empty()) {
    const std::string_view range = TakeUntil(text, ',');
    std::string_view rest = range;
    const Result<int64_t> low =
        ParseNumberText(TakeUntil(rest, '-'), 0, kMaxHostNumber);
    const bool single = range.find('-') == range.npos;
    const Result<int64_t> high =
        single ? low : ParseNumberText(rest, 0, kMaxHostNumber);
    const bool digits = range.find_first_not_of("0123456789-") == range.npos;
    if (!low.ok() || !high.ok() || !digits || *low > *high) {
      return Malformed("expected a number or an ascending range", range);
    }
    bracket.values += static_cast<uint64_t>(*high - *low) + 1;
    if (bracket.values > kMaxHosts) return Malformed("too many hosts", range);
  }
  return bracket;
}

Result<HostListHead> ReadPart(std::string_view part) {
  HostListHead head{.first = {}, .hosts = 1};
  std::string_view rest = part;
  while (!rest.empty()) {
    const size_t open = rest.find_first_of("[]");
    head.first += rest.substr(0, open);
    if (open == rest.npos) break;
    const size_t close = rest.find_first_of("[]", open + 1);
    if (rest[open] == ']' || close == rest.npos || rest[close] == '[') {
      return Malformed("expected brackets in pairs, not nested", part);
    }
    ASSIGN_OR_RETURN(const Bracket bracket,
                     ReadBracket(rest.substr(open + 1, close - open - 1)));
    head.first += bracket.first;
    head.hosts *= bracket.values;
    if (head.hosts > kMaxHosts) return Malformed("too many hosts", part);
    rest.remove_prefix(close + 1);
  }
  RETURN_IF_ERROR(Annotate(CheckHost(head.first), "host list"));
  return head;
}

// Returns the end of the first part of `text`: its first comma outside of
// brackets, or its end.
size_t EndOfPart(std::string_view text) {
  bool inside = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[') inside = true;
    if (text[at] == ']') inside = false;
    if (text[at] == ',' && !inside) return at;
  }
  return text.size();
}

}  // namespace

Result<HostListHead> ReadHostList(std::string_view text) {
  if (text.size() > kMaxText) {
    return InvalidArgument(
        fmt::format("host list: expected at most {} bytes, found {}", kMaxText,
                    text.size()));
  }
  HostListHead head;
  while (true) {
    const size_t end = EndOfPart(text);
    ASSIGN_OR_RETURN(HostListHead part, ReadPart(text.substr(0, end)));
    if (head.hosts == 0) head.first = std::move(part.first);
    head.hosts += part.hosts;
    if (head.hosts > kMaxHosts) return Malformed("too many hosts", text);
    if (end == text.size()) return head;
    text.remove_prefix(end + 1);
  }
}

}  // namespace gauntlet
