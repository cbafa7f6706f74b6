#include "harness/record/text/repeated_texts.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <utility>

#include "harness/record/text/value_text.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kFewestRepetitions = 4;
// Longest sequence whose repetitions are merged. For a restart of eight
// workers, a launcher emits fewer events than this.
constexpr size_t kLongestSequence = 32;

bool IsDigitAt(std::string_view text, size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

// Returns the end of the number that begins at `at`: "12" or "0.5".
size_t EndOfNumber(std::string_view text, size_t at) {
  while (IsDigitAt(text, at)) ++at;
  if (at < text.size() && text[at] == '.' && IsDigitAt(text, at + 1)) {
    for (++at; IsDigitAt(text, at);) ++at;
  }
  return at;
}

// A text as words with numbers between them: words[0] numbers[0] words[1] …
struct SplitText {
  std::vector<std::string_view> words;    // one more than numbers
  std::vector<std::string_view> numbers;  // "3", "3-7" or "4, 6, 8"
};

SplitText Split(std::string_view text) {
  SplitText split;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    if (!IsDigitAt(text, at)) {
      ++at;
      continue;
    }
    size_t end = EndOfNumber(text, at);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const std::string_view between : {"-", ", "}) {
        const size_t next = end + between.size();
        if (!text.substr(end).starts_with(between) || !IsDigitAt(text, next)) {
          continue;
        }
        end = EndOfNumber(text, next);
        goes_on = true;
      }
    }
    split.words.push_back(text.substr(begin, at - begin));
    split.numbers.push_back(text.substr(at, end - at));
    begin = at = end;
  }
  split.words.push_back(text.substr(begin));
  return split;
}

// The least and the greatest number in several lists. Text() spells both as in
// the lists.
class NumberRange {
 public:
  void Add(std::string_view list) {
    for (size_t at = 0; at < list.size();) {
      if (!IsDigitAt(list, at)) {
        ++at;
        continue;
      }
      const size_t end = EndOfNumber(list, at);
      AddNumber(list.substr(at, end - at));
      at = end;
    }
  }

  std::string Text() const { return fmt::format("{}..{}", least_, greatest_); }

 private:
  void AddNumber(std::string_view number) {
    double value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    if (least_.empty() || value < least_value_) {
      least_ = number;
      least_value_ = value;
    }
    if (greatest_.empty() || value > greatest_value_) {
      greatest_ = number;
      greatest_value_ = value;
    }
  }

  std::string_view least_;
  std::string_view greatest_;
  double least_value_ = 0;
  double greatest_value_ = 0;
};

std::string_view CommonBegin(std::string_view a, std::string_view b) {
  return a.substr(
      0, static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin()));
}

struct KeyGroup {
  size_t key = 0;
  std::vector<size_t> members;
};

// Returns how many times in a row, at their begin, the groups have the keys of
// the first `length` groups. The order within each repetition does not matter.
size_t TimesInARow(std::span<const KeyGroup> groups, size_t length) {
  size_t times = 1;
  const std::span<const KeyGroup> first = groups.first(length);
  for (; (times + 1) * length <= groups.size(); ++times) {
    const std::span<const KeyGroup> next =
        groups.subspan(times * length, length);
    const auto is_equal = [](const KeyGroup& a, const KeyGroup& b) {
      return a.key == b.key;
    };
    if (!std::is_permutation(next.begin(), next.end(), first.begin(),
                             first.end(), is_equal)) {
      break;
    }
  }
  return times;
}

// Adds the groups to `merged`, as one group for each key.
void AddMerged(std::span<const KeyGroup> groups,
               std::vector<KeyGroup>& merged) {
  const size_t begin = merged.size();
  for (const KeyGroup& group : groups) {
    const auto same = std::find_if(
        merged.begin() + static_cast<ptrdiff_t>(begin), merged.end(),
        [&group](const KeyGroup& other) { return other.key == group.key; });
    if (same == merged.end()) {
      merged.push_back(group);
    } else {
      same->members.insert(same->members.end(), group.members.begin(),
                           group.members.end());
    }
  }
}

// Goes through the groups from the first to the last. Where a sequence repeats,
// merges all its repetitions; if several sequences repeat there, takes the
// shortest.
std::vector<KeyGroup> MergeOnce(std::span<const KeyGroup> groups) {
  std::vector<KeyGroup> merged;
  while (!groups.empty()) {
    const size_t longest =
        std::min(kLongestSequence, groups.size() / kFewestRepetitions);
    size_t taken = 1;
    for (size_t length = 1; length <= longest; ++length) {
      const size_t times = TimesInARow(groups, length);
      if (times < kFewestRepetitions) continue;
      taken = times * length;
      break;
    }
    AddMerged(groups.first(taken), merged);
    groups = groups.subspan(taken);
  }
  return merged;
}

}  // namespace

std::string TextWithoutNumbers(std::string_view text) {
  const SplitText split = Split(text.substr(0, text.find(": ")));
  return fmt::format("{}", fmt::join(split.words, "#"));
}

std::string MergedText(const std::vector<std::string>& texts) {
  const SplitText first = Split(texts.front());
  std::vector<NumberRange> ranges(first.numbers.size());
  std::vector<bool> differs(first.numbers.size());
  size_t alike = first.words.size();  // number of common first words
  std::string_view cut;               // common begin of the next word
  for (const std::string& text : texts) {
    const SplitText split = Split(text);
    for (size_t i = 0; i <= alike && i < first.words.size(); ++i) {
      const std::string_view word =
          i < split.words.size() ? split.words[i] : std::string_view();
      const std::string_view expected = i < alike ? first.words[i] : cut;
      // The word must also be followed by a number in both texts, or in
      // neither.
      const bool ends_alike = i == alike || (i < split.numbers.size()) ==
                                                (i < first.numbers.size());
      if (word == expected && ends_alike) continue;
      cut = CommonBegin(word, expected);
      alike = i;
    }
    for (size_t i = 0; i < std::min(alike, ranges.size()); ++i) {
      if (i >= split.numbers.size()) break;
      ranges[i].Add(split.numbers[i]);
      if (split.numbers[i] != first.numbers[i]) differs[i] = true;
    }
  }
  std::string merged;
  for (size_t i = 0; i < alike; ++i) {
    merged += first.words[i];
    if (i == ranges.size()) break;
    merged += differs[i] ? ranges[i].Text() : std::string(first.numbers[i]);
  }
  return alike == first.words.size() ? merged
                                     : merged + std::string(cut) + "...";
}

std::string RepetitionNote(size_t times, int64_t until_ns) {
  return times == 1 ? ""
                    : fmt::format(" ({} times until {})", times,
                                  TimeSinceBegin(until_ns));
}

std::vector<std::vector<size_t>> GroupRepeated(
    const std::vector<EventKey>& events) {
  std::map<std::string_view, size_t> numbers;
  std::map<std::string_view, std::vector<KeyGroup>> by_emitter;
  for (size_t i = 0; i < events.size(); ++i) {
    const auto& [emitter, text] = events[i];
    const size_t key = numbers.emplace(text, numbers.size()).first->second;
    by_emitter[emitter].push_back({.key = key, .members = {i}});
  }
  std::vector<std::vector<size_t>> members;
  for (auto& [emitter, groups] : by_emitter) {
    // A merged sequence may be part of a longer sequence that repeats too, so
    // merge until nothing changes.
    for (size_t before = 0; before != groups.size();) {
      before = groups.size();
      groups = MergeOnce(groups);
    }
    for (KeyGroup& group : groups) members.push_back(std::move(group.members));
  }
  std::ranges::sort(members);
  return members;
}

}  // namespace gauntlet
