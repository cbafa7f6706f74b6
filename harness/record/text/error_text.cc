#include "harness/record/text/error_text.h"

#include <algorithm>

namespace gauntlet {
namespace {

// Returns the text up to the first period that a sentence follows. A period
// within a name or a number does not end a sentence.
std::string_view FirstSentence(std::string_view text) {
  constexpr std::string_view kEnd = ". ";
  for (size_t at = text.find(kEnd); at != text.npos;
       at = text.find(kEnd, at + 1)) {
    const size_t next = at + kEnd.size();
    if (next < text.size() && text[next] >= 'A' && text[next] <= 'Z') {
      return text.substr(0, at);
    }
  }
  return text;
}

// Returns the name of the file if the word is the path of a file of a
// checkpoint; else the word.
std::string_view NameOfFile(std::string_view word) {
  const size_t folder = word.find("/step-");
  if (!word.starts_with('/') || folder == word.npos) return word;
  const size_t name = word.rfind('/');
  return name == folder ? word : word.substr(name + 1);
}

}  // namespace

std::string ShortError(std::string_view error) {
  std::string_view rest = FirstSentence(error);
  std::string text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    text += NameOfFile(rest.substr(0, end));
    rest.remove_prefix(end);
    if (rest.empty()) break;
    text += ' ';
    rest.remove_prefix(1);
  }
  return text;
}

std::string WithoutDiskRoom(std::string_view error) {
  std::string text(error);
  const size_t begin = text.find(" (needs ");
  const size_t end = text.find(')', std::min(begin, text.size()));
  if (end != text.npos) text.erase(begin, end + 1 - begin);
  return text;
}

}  // namespace gauntlet
