// Explains errors of the YAML parser in terms of what to change in the file.
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_MISTAKES_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_MISTAKES_H_

#include <string_view>

#include "harness/scenario/format/diagnostic.h"

namespace gauntlet {

// Returns the diagnostic for an error at which the parser stopped, at `place`.
// The place in the diagnostic is that of the mistake, which may be earlier: for
// example a key without a colon, or a bracket that is not closed. If the
// mistake is not recognized, quotes `parser_message`.
Diagnostic ExplainYamlError(std::string_view text, Place place,
                            std::string_view parser_message);

// Returns true iff a quote begins at `place` and is never closed. In that case,
// the parser takes the rest of the text as the value.
bool IsQuoteOpen(std::string_view text, Place place);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_YAML_MISTAKES_H_
