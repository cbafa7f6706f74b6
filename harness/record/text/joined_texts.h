// Clauses of one sentence.
#ifndef GAUNTLET_HARNESS_RECORD_TEXT_JOINED_TEXTS_H_
#define GAUNTLET_HARNESS_RECORD_TEXT_JOINED_TEXTS_H_

#include <string>
#include <vector>

namespace gauntlet {

// Returns the texts that are not empty, separated by "; ".
std::string JoinedTexts(std::vector<std::string> texts);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_TEXT_JOINED_TEXTS_H_
