#include "harness/scenario/format/yaml_mistakes.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/exceptions.h>

namespace gauntlet {
namespace {

constexpr size_t kMostShown = 40;  // characters of a line

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

// Returns the line without its comment. Blanks replace what is in quotes.
std::string WithoutQuotes(std::string_view line) {
  std::string kept;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
      kept += quote == 0 ? c : ' ';
      continue;
    }
    if (c == '#' && (i == 0 || line[i - 1] == ' ')) break;
    if (c == '"' || c == '\'') quote = c;
    kept += c;
  }
  while (kept.ends_with(' ')) kept.pop_back();
  return kept;
}

size_t IndentOf(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// Returns the column, counted from 0, at which the key of the line begins:
// after its "- " if the line begins an item of a list.
size_t KeyIndentOf(std::string_view line) {
  size_t at = IndentOf(line);
  while (line.substr(at).starts_with("- ")) {
    at += 2 + IndentOf(line.substr(at + 2));
  }
  return at;
}

bool HasKey(std::string_view line) {
  return line.find(": ") != std::string_view::npos || line.ends_with(':');
}

class Explanation {
 public:
  Explanation(std::string_view text, Place place)
      : lines_(LinesOf(text)), place_(place) {
    for (const std::string_view line : lines_) {
      bare_.push_back(WithoutQuotes(line));
    }
    line_ = std::min(place.line, lines_.size()) - 1;
  }

  std::optional<Diagnostic> Find(std::string_view parser_message) const {
    if (auto found = Tab()) return found;
    if (parser_message == YAML::ErrorMsg::FLOW_END) return ClosesNothing();
    if (parser_message == YAML::ErrorMsg::END_OF_MAP_FLOW ||
        parser_message == YAML::ErrorMsg::END_OF_SEQ_FLOW) {
      return NotClosed();
    }
    if (parser_message == YAML::ErrorMsg::UNKNOWN_TOKEN) return Quoteless();
    if (parser_message == YAML::ErrorMsg::BLOCK_ENTRY) {
      return Diagnostic{place_,
                        "expected the first item of a list on a new "
                        "line, found it after its key",
                        "or write the list as [a, b]"};
    }
    if (parser_message == YAML::ErrorMsg::MAP_VALUE) {
      if (auto found = SecondColon()) return found;
      if (auto found = ItemWithoutSpace()) return found;
      if (auto found = ColonMissing(Above())) return found;
      return Indentation();
    }
    if (parser_message == YAML::ErrorMsg::END_OF_MAP ||
        parser_message == YAML::ErrorMsg::END_OF_SEQ) {
      if (auto found = ItemWithoutSpace()) return found;
      if (auto found = BehindAQuote()) return found;
      if (auto found = ColonMissing(line_)) return found;
      if (auto found = ColonMissing(Above())) return found;
      return Indentation();
    }
    return std::nullopt;
  }

 private:
  std::optional<Diagnostic> Tab() const {
    for (size_t i = 0; i <= line_; ++i) {
      const size_t tab = lines_[i].find('\t');
      if (tab == std::string_view::npos ||
          lines_[i].find_first_not_of(" \t") < tab || bare_[i].empty()) {
        continue;
      }
      return Diagnostic{{i + 1, tab + 1},
                        "found a tab in the indentation",
                        "expected spaces"};
    }
    return std::nullopt;
  }

  // Detects "name: a: b".
  std::optional<Diagnostic> SecondColon() const {
    const std::string before = bare_[line_].substr(0, place_.column - 1);
    const size_t colon = before.find(": ");
    if (colon == std::string::npos) return std::nullopt;
    return Diagnostic{place_, "found a second ':' in one line",
                      "put a value that has one in quotes"};
  }

  // Detects "-at: …" in this line or the one above.
  std::optional<Diagnostic> ItemWithoutSpace() const {
    const std::optional<size_t> above = Above();
    for (const size_t i : {line_, above.value_or(line_)}) {
      const size_t indent = IndentOf(bare_[i]);
      const std::string item = bare_[i].substr(indent);
      if (item.size() < 2 || item[0] != '-' ||
          std::isalpha(static_cast<unsigned char>(item[1])) == 0) {
        continue;
      }
      return Diagnostic{
          {i + 1, indent + 1},
          fmt::format("expected a space after '-', found '{}'", Shown(i)),
          "- " + item.substr(1, kMostShown)};
    }
    return std::nullopt;
  }

  // Detects "epochs 3" or "epochs:3".
  std::optional<Diagnostic> ColonMissing(std::optional<size_t> line) const {
    if (!line || HasKey(bare_[*line])) return std::nullopt;
    const size_t key = KeyIndentOf(bare_[*line]);
    const std::string_view rest = std::string_view(bare_[*line]).substr(key);
    if (rest.empty() ||
        std::isalpha(static_cast<unsigned char>(rest[0])) == 0) {
      return std::nullopt;
    }
    const size_t end = std::min(rest.find_first_of(" :"), rest.size());
    // Without a colon, the text may be a single word that is an item of a list.
    if (key > IndentOf(bare_[*line]) && end == rest.size()) return std::nullopt;
    const std::string_view value =
        rest.substr(std::min(rest.find_first_not_of(" :", end), rest.size()));
    return Diagnostic{
        {*line + 1, key + 1},
        fmt::format("expected ': ' after a key, found '{}'", Shown(*line)),
        fmt::format("{}:{}{}", rest.substr(0, end), value.empty() ? "" : " ",
                    value.substr(0, kMostShown))};
  }

  // Detects `a: "b" c`.
  std::optional<Diagnostic> BehindAQuote() const {
    const std::string before = bare_[line_].substr(0, place_.column - 1);
    const size_t last = before.find_last_not_of(' ');
    if (last == std::string::npos) return std::nullopt;
    if (before[last] != '"' && before[last] != '\'') return std::nullopt;
    return Diagnostic{place_, "expected nothing after a value in quotes",
                      "put the whole value in quotes"};
  }

  std::optional<Diagnostic> Indentation() const {
    const std::optional<size_t> above = Above();
    if (!above) return std::nullopt;
    const size_t indent = IndentOf(bare_[line_]);
    const size_t key = KeyIndentOf(bare_[*above]);
    std::string message =
        indent > key && !bare_[*above].ends_with(':')
            ? fmt::format("indented deeper than line {}, whose key has a value",
                          *above + 1)
            : fmt::format(
                  "indented by {} spaces, unlike each map and list above that "
                  "is still open",
                  indent);
    return Diagnostic{
        {line_ + 1, indent + 1},
        std::move(message),
        "indent it as the other keys, or items, of the same map or list"};
  }

  // Returns the places of the brackets that are still open just before `column`
  // (counted from 0) of line_.
  std::vector<Place> OpenBefore(size_t column) const {
    std::vector<Place> open;
    for (size_t i = 0; i <= line_; ++i) {
      const std::string part =
          i == line_ ? bare_[i].substr(0, column) : bare_[i];
      for (size_t at = 0; at < part.size(); ++at) {
        if (part[at] == '{' || part[at] == '[') open.push_back({i + 1, at + 1});
        if ((part[at] == '}' || part[at] == ']') && !open.empty()) {
          open.pop_back();
        }
      }
    }
    return open;
  }

  // Detects a "{" or "[" that is still open at the place of the error.
  std::optional<Diagnostic> NotClosed() const {
    std::vector<Place> open = OpenBefore(place_.column - 1);
    // If the file does not end with a line break, the parser reports the end of
    // the file as column 1 of its last line. So look at all of that line.
    if (open.empty()) open = OpenBefore(std::string::npos);
    if (open.empty()) return std::nullopt;
    const Place begin = open.back();
    const char bracket = lines_[begin.line - 1][begin.column - 1];
    const char closing = bracket == '{' ? '}' : ']';
    if (ClosesInItsLine(begin)) {
      return Diagnostic{
          place_, fmt::format("expected ',' or '{}' before this", closing),
          "put a value that has ': ' or ',' in quotes"};
    }
    return Diagnostic{
        begin,
        fmt::format("'{}' is not closed: expected a '{}' after it", bracket,
                    closing),
        ""};
  }

  bool ClosesInItsLine(Place bracket) const {
    int depth = 1;
    for (const char c : bare_[bracket.line - 1].substr(bracket.column)) {
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (depth == 0) return true;
    }
    return false;
  }

  std::optional<Diagnostic> ClosesNothing() const {
    if (place_.column > lines_[line_].size()) return std::nullopt;
    return Diagnostic{place_,
                      fmt::format("'{}' closes nothing that is open here",
                                  lines_[line_][place_.column - 1]),
                      "remove it, or close first what was opened last"};
  }

  // Detects a value that begins with '@', '`' or '%'.
  std::optional<Diagnostic> Quoteless() const {
    if (place_.column > lines_[line_].size()) return std::nullopt;
    return Diagnostic{place_,
                      fmt::format("a value cannot begin with '{}'",
                                  lines_[line_][place_.column - 1]),
                      "put it in quotes"};
  }

  // Returns the nearest line above that is not empty or a comment.
  std::optional<size_t> Above() const {
    for (size_t i = line_; i-- > 0;) {
      if (!bare_[i].empty()) return i;
    }
    return std::nullopt;
  }

  std::string Shown(size_t line) const {
    return bare_[line].substr(IndentOf(bare_[line]), kMostShown);
  }

  std::vector<std::string_view> lines_;
  std::vector<std::string> bare_;
  Place place_;
  size_t line_ = 0;  // from 0
};

}  // namespace

bool IsQuoteOpen(std::string_view text, Place place) {
  for (size_t line = 1; line < place.line; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  if (place.column > text.size()) return false;
  const char quote = text[place.column - 1];
  if (quote != '"' && quote != '\'') return false;
  for (size_t i = place.column; i < text.size(); ++i) {
    if (text[i] == quote) return false;
    if (text[i] == '\\' && quote == '"') ++i;
  }
  return true;
}

Diagnostic ExplainYamlError(std::string_view text, Place place,
                            std::string_view parser_message) {
  std::optional<Diagnostic> found =
      Explanation(text, place).Find(parser_message);
  if (found) return *std::move(found);
  return {place, fmt::format("not YAML: {}", parser_message), ""};
}

}  // namespace gauntlet
