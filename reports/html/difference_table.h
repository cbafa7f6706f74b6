// Tables of the values in which a run differs from its reference.
#ifndef GAUNTLET_REPORTS_HTML_DIFFERENCE_TABLE_H_
#define GAUNTLET_REPORTS_HTML_DIFFERENCE_TABLE_H_

#include <string>

#include "harness/record/result/result.h"

namespace gauntlet {

// Returns one table for each of the result's differences, then one of losses.
// The columns are tensor, element, value found, value expected (decimals with
// their bits) and distance in ulps. Each table states how much it leaves out.
// Returns "" if no difference is known.
std::string RenderDifferences(const CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_DIFFERENCE_TABLE_H_
