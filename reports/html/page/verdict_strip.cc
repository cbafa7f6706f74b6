#include "reports/html/page/verdict_strip.h"

#include "reports/html/page/text.h"
#include <fmt/format.h>

namespace gauntlet {

std::string RenderVerdictStrip(const VerdictStrip& strip) {
  std::string bar;
  std::string counts;
  for (const VerdictCount& count : strip.counts) {
    counts += fmt::format("<div class=\"{}{}\"><dt>{}</dt><dd>{}</dd></div>\n",
                          count.css_class, count.cases == 0 ? " none" : "",
                          count.name, GroupedDigits(count.cases));
    if (count.cases == 0) continue;
    bar += fmt::format("<span class=\"{}\" style=\"flex:{}\"></span>",
                       count.css_class, count.cases);
  }
  std::string facts;
  for (const auto& [name, value] : strip.facts) {
    facts += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name,
                         HtmlText(value));
  }
  return fmt::format(
      "<header>\n<h1>{}</h1>\n<div class=\"proportions\" "
      "aria-hidden=\"true\">{}</div>\n<dl class=\"counts\">\n{}</dl>\n"
      "<dl class=\"facts\">\n{}</dl>\n{}</header>\n",
      HtmlText(strip.title), bar, counts, facts, strip.below);
}

}  // namespace gauntlet
