// Errors of the YAML parser, in terms of what to change in the file.
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_MISTAKES_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_MISTAKES_H_

#include <string_view>

#include "harness/scenario/format/diagnostic.h"

namespace gauntlet {

// The parser stopped at `place` of the text. The place returned is that of the
// mistake, which may be further up: a key without a colon, a bracket that is
// not closed. `parser_message` is said where the mistake is not known.
Diagnostic ExplainYamlError(std::string_view text, Place place,
                            std::string_view parser_message);

// Returns true iff a quote begins at `place` and the text has no second one.
// The parser takes the rest of the text for the value then.
bool IsQuoteOpen(std::string_view text, Place place);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_MISTAKES_H_
