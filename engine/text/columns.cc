#include "engine/text/columns.h"

#include <algorithm>

namespace gauntlet {

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) >> 6) == 2;
}

size_t ColumnsOf(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return !IsContinuation(c); }));
}

size_t BytesOf(std::string_view text, size_t columns) {
  size_t at = 0;
  while (at < text.size()) {
    if (!IsContinuation(text[at]) && columns-- == 0) break;
    ++at;
  }
  return at;
}

std::vector<std::string> Wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> lines;
  // Only one line of the rest is searched at a time, so that the time is linear
  // in the length of the text.
  for (;;) {
    const size_t most = BytesOf(text, columns);
    if (most == text.size()) break;
    const size_t space = text.rfind(' ', most);
    const bool at_space = space != text.npos && space > 0;
    std::string_view line = text.substr(0, at_space ? space : most);
    text.remove_prefix(line.size());
    if (at_space) {
      // There may be several spaces between two words.
      line = line.substr(0, line.find_last_not_of(' ') + 1);
      text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    }
    lines.emplace_back(line);
  }
  lines.emplace_back(text);
  return lines;
}

}  // namespace gauntlet
