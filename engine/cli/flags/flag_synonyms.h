// Other tools' names for our options, such as `--learning-rate` for `--lr`.
//
// A command accepts a synonym if it has the option `option`, and has no option
// of its own with the synonym's name.
#ifndef GAUNTLET_ENGINE_CLI_FLAGS_FLAG_SYNONYMS_H_
#define GAUNTLET_ENGINE_CLI_FLAGS_FLAG_SYNONYMS_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace gauntlet {

enum class SynonymUse : uint8_t {
  kReplaced,  // read as `option`, with a note
  kDropped,   // ignored, with a note: `option` alone does the same
  kRefused,   // an error, which gives the advice
};

struct FlagSynonym {
  std::string_view name;    // "--learning-rate"
  std::string_view option;  // "--lr"
  SynonymUse use = SynonymUse::kReplaced;
  std::string_view advice = "";  // part of the note (kDropped) or error
                                 // (kRefused)
};

std::span<const FlagSynonym> AllFlagSynonyms();

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLI_FLAGS_FLAG_SYNONYMS_H_
