#include "chaos/crash/name_choices.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gauntlet {

std::vector<bool> NameChoice::Kept(size_t changes) const {
  std::vector<bool> kept(changes);
  std::fill_n(kept.begin(), prefix, true);
  for (const size_t i : lost) kept[i] = false;
  return kept;
}

std::vector<NameChoice> PrefixesOf(size_t changes, size_t newest) {
  std::vector<NameChoice> choices;
  for (size_t lost = 0; lost <= std::min(newest, changes); ++lost)
    choices.push_back({.prefix = changes - lost});
  return choices;
}

std::vector<NameChoice> OneMissing(size_t prefix, size_t newest) {
  std::vector<NameChoice> choices;
  // Starts at 2: without its last change, the prefix would be a shorter prefix.
  for (size_t back = 2; back <= std::min(newest + 1, prefix); ++back)
    choices.push_back({.prefix = prefix, .lost = {prefix - back}});
  return choices;
}

std::vector<NameChoice> OtherSubsets(size_t changes) {
  std::vector<NameChoice> choices;
  for (uint32_t mask = 0; mask < (uint32_t{1} << changes); ++mask) {
    NameChoice choice;
    for (size_t i = 0; i < changes; ++i) {
      if ((mask >> i & 1U) != 0) choice.prefix = i + 1;
    }
    for (size_t i = 0; i < choice.prefix; ++i) {
      if ((mask >> i & 1U) == 0) choice.lost.push_back(i);
    }
    if (choice.lost.size() > 1) choices.push_back(std::move(choice));
  }
  // Choices that lose the fewest changes come first.
  std::ranges::stable_sort(choices, {}, [&](const NameChoice& choice) {
    return choice.lost.size() + (changes - choice.prefix);
  });
  return choices;
}

}  // namespace gauntlet
