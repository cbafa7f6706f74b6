// Explains errors of the YAML parser in terms of what to change in the file.
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_MISTAKES_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_MISTAKES_H_

#include <string_view>

#include "harness/scenario/format/diagnostic.h"

namespace gauntlet {

// Returns the diagnostic for an error at `place`, where the parser stopped. The
// diagnostic's place is that of the mistake, which may be earlier: a key
// without a colon, an unclosed bracket. Quotes `parser_message` if the mistake
// is not recognised.
Diagnostic ExplainYamlError(std::string_view text, Place place,
                            std::string_view parser_message);

// Returns true iff a quote begins at `place` and is never closed. The parser
// then takes the rest of the text as the value.
bool IsQuoteOpen(std::string_view text, Place place);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_MISTAKES_H_
