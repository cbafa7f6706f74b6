// Label expressions of -L: "smoke and not (slow or gpu)".
#ifndef GAUNTLET_HARNESS_CLI_SCENARIO_LABEL_EXPRESSION_H_
#define GAUNTLET_HARNESS_CLI_SCENARIO_LABEL_EXPRESSION_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

// Returns true iff the labels of a case match.
using LabelMatcher = std::function<bool(const std::vector<std::string>&)>;

// Parses an expression; `not` binds closest and `or` least:
//   expression = term {"or" term}; term = factor {"and" factor};
//   factor = "not" factor | "(" expression ")" | label
// A label with spaces or brackets, or one of the words above, is put in single
// or double quotes: "data loader".
// kInvalidArgument: the text is not an expression; the message has the
// position.
Result<LabelMatcher> ParseLabelExpression(std::string_view text);

// Returns the labels that an expression names, in order.
std::vector<std::string> LabelsIn(std::string_view expression);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_SCENARIO_LABEL_EXPRESSION_H_
