// Values of a run that differ from its reference's, as tables.
#ifndef GAUNTLET_REPORTS_HTML_DIFFERENCE_TABLE_H_
#define GAUNTLET_REPORTS_HTML_DIFFERENCE_TABLE_H_

#include <string>

#include "harness/record/result/result.h"

namespace gauntlet {

// One table for each of the result's differences, then one of losses: tensor,
// element, value found, value expected (decimals with their bits), distance in
// ulps. Each says how much it leaves out. Empty: nothing is known to differ.
std::string RenderDifferences(const CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_DIFFERENCE_TABLE_H_
