#include "harness/cli/run/case_list.h"

#include <algorithm>

#include "engine/text/counted.h"
#include "engine/utf8.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gauntlet {

size_t NameWidth(const std::vector<SuiteItem>& items) {
  size_t width = 0;
  for (const SuiteItem& item : items) {
    width = std::max(width, item.one.name.size());
  }
  return std::min<size_t>(width, 48);
}

std::string RenderCaseList(const std::vector<SuiteItem>& items) {
  const size_t width = NameWidth(items);

  std::string text;
  for (const SuiteItem& item : items) {
    text += fmt::format("{:<4} {:<{}}  {}:{}", WorldKindName(item.world),
                        item.one.name, width, item.one.file, item.one.line);
    if (!item.one.labels.empty()) {
      const auto labels = fmt::format("{}", fmt::join(item.one.labels, ", "));
      text += fmt::format("  [{}]", EscapeBytes(labels));
    }
    text += '\n';
  }
  return text + Counted(items.size(), "case") + "\n";
}

std::string CaseListToJson(const std::vector<SuiteItem>& items) {
  nlohmann::json cases = nlohmann::json::array();
  for (const SuiteItem& item : items) {
    cases.push_back({{"name", item.one.name},
                     {"scenario", item.one.scenario},
                     {"world", WorldKindName(item.world)},
                     {"file", item.one.file},
                     {"line", item.one.line},
                     {"labels", item.one.labels}});
  }
  const nlohmann::json list = {{"schema", "gauntlet.cases/v1"},
                               {"cases", cases}};
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace gauntlet
