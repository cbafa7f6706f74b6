#include "tests/harness/mutation/table_report.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tests/harness/mutation/harmless_fault.h"
#include "tests/harness/mutation/record_mutation.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

constexpr size_t kNameWidth = 20;
constexpr size_t kCellWidth = 15;

std::string CellText(const MutationCell& cell) {
  return cell.tried == 0 ? "-" : fmt::format("{}/{}", cell.caught, cell.tried);
}

std::string RowText(std::string_view name,
                    const std::vector<std::string>& cells) {
  std::string row = fmt::format("{:<{}}", name, kNameWidth);
  for (const std::string& cell : cells) {
    row += fmt::format("{:>{}}", cell, kCellWidth);
  }
  return row + "\n";
}

std::string RecordRow(const MutationTable& table, std::string_view name,
                      uint64_t RecordCounts::*count) {
  std::vector<std::string> cells;
  for (const RecordCounts& counts : table.records) {
    cells.push_back(std::to_string(counts.*count));
  }
  return RowText(name, cells);
}

}  // namespace

std::string RenderTable(const MutationTable& table) {
  std::vector<std::string> names;
  for (const HarmlessFault& fault : AllHarmlessFaults()) {
    names.emplace_back(fault.name);
  }
  std::string text = RowText("caught/tried", names);
  const auto groups = AllMutationGroups();
  std::vector<MutationCell> sums(names.size());
  for (size_t row = 0; row < groups.size(); ++row) {
    std::vector<std::string> cells;
    for (size_t column = 0; column < names.size(); ++column) {
      const MutationCell& cell = table.cells[row][column];
      cells.push_back(CellText(cell));
      sums[column].tried += cell.tried;
      sums[column].caught += cell.caught;
    }
    text += RowText(groups[row].name, cells);
  }
  std::vector<std::string> totals;
  for (const MutationCell& sum : sums) totals.push_back(CellText(sum));
  text += RowText("all", totals) + "\n";
  text += RecordRow(table, "records mutated", &RecordCounts::mutated);
  text += RecordRow(table, "left out: no place", &RecordCounts::no_place);
  text += RecordRow(table, "left out: no pass", &RecordCounts::not_passed);
  text += fmt::format(
      "\nleft out: {} cases with a planted bug, {} that need what the "
      "simulated world lacks\n",
      table.planted_bugs, table.not_here);
  for (const auto& [name, reason] : table.not_passed) {
    text += fmt::format("        {}: {}\n", name, reason);
  }
  text += "\nwithout effect (not among those tried):\n";
  for (const auto& [key, count] : table.without_effect) {
    text += fmt::format("{:>6}  {}: {}\n", count, key.first, key.second);
  }
  return text;
}

std::string RenderSurvivorCounts(const MutationTable& table) {
  struct Count {
    uint64_t number = 0;
    const Survivor* example = nullptr;
  };
  std::map<std::string_view, Count> counts;  // by mutation
  for (const Survivor& survivor : table.survivors) {
    Count& count = counts[survivor.mutation];
    if (count.number++ == 0) count.example = &survivor;
  }
  std::vector<std::pair<std::string_view, Count>> sorted(counts.begin(),
                                                         counts.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](const auto& one) { return one.second.number; });
  std::string text = "survivors by mutation, each with an example:\n";
  for (const auto& [mutation, count] : sorted) {
    text += fmt::format("{:>6}  {}: {}, {}\n", count.number, mutation,
                        count.example->scenario, count.example->place);
  }
  return text;
}

std::string RenderSurvivors(const MutationTable& table) {
  std::string text;
  for (const Survivor& survivor : table.survivors) {
    text += fmt::format("{} | {} | {} | {}\n", survivor.mutation,
                        survivor.column, survivor.scenario, survivor.place);
  }
  return text;
}

std::string RenderPins(const MutationTable& table) {
  const auto groups = AllMutationGroups();
  std::string text;
  for (size_t row = 0; row < groups.size(); ++row) {
    std::string cells;
    for (const MutationCell& cell : table.cells[row]) {
      cells += fmt::format("{}{{{}, {}}}", cells.empty() ? "" : ", ",
                           cell.caught, cell.tried);
    }
    text +=
        fmt::format("    {{\"{}\", {{{{{}}}}}}},\n", groups[row].name, cells);
  }
  return text;
}

std::string TableToJson(const MutationTable& table) {
  using Json = nlohmann::ordered_json;
  const auto groups = AllMutationGroups();
  const auto faults = AllHarmlessFaults();
  Json cells = Json::array();
  for (size_t row = 0; row < groups.size(); ++row) {
    for (size_t column = 0; column < faults.size(); ++column) {
      const MutationCell& cell = table.cells[row][column];
      cells.push_back({{"mutation", groups[row].name},
                       {"harmless_fault", faults[column].name},
                       {"tried", cell.tried},
                       {"caught", cell.caught},
                       {"no_verdict", cell.no_verdict},
                       {"without_effect", cell.without_effect}});
    }
  }
  Json records = Json::array();
  for (size_t column = 0; column < faults.size(); ++column) {
    const RecordCounts& counts = table.records[column];
    records.push_back({{"harmless_fault", faults[column].name},
                       {"mutated", counts.mutated},
                       {"no_place", counts.no_place},
                       {"not_passed", counts.not_passed}});
  }
  Json survivors = Json::array();
  for (const Survivor& survivor : table.survivors) {
    survivors.push_back({{"mutation", survivor.mutation},
                         {"group", survivor.group},
                         {"harmless_fault", survivor.column},
                         {"scenario", survivor.scenario},
                         {"place", survivor.place}});
  }
  Json without_effect = Json::array();
  for (const auto& [key, count] : table.without_effect) {
    without_effect.push_back(
        {{"mutation", key.first}, {"reason", key.second}, {"count", count}});
  }
  const Json all = {{"schema", "gauntlet.mutations/v1"},
                    {"cells", cells},
                    {"records", records},
                    {"without_effect", without_effect},
                    {"survivors", survivors}};
  return all.dump(1) + "\n";
}

}  // namespace gauntlet
