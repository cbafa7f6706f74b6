// Measures the judge: prints how many mutated records of the scenario suites
// the judge fails.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/harness/mutation/mutation_table.h"
#include "tests/harness/mutation/passing_records.h"
#include "tests/harness/mutation/pinned_cells.h"
#include "tests/harness/mutation/record_mutation.h"
#include "tests/harness/mutation/table_report.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

struct Options {
  std::string scenarios = GAUNTLET_SCENARIOS;
  std::string filter;
  uint64_t places = 1;
  bool pinned = false;
  bool list = false;
  bool survivors = false;
  std::string json_file;
};

std::vector<std::string> FilesOf(const Options& options) {
  std::vector<std::string> files;
  if (options.pinned) {
    for (const std::string_view name : kPinnedScenarios) {
      files.push_back(fmt::format("{}/{}", options.scenarios, name));
    }
    return files;
  }
  for (std::string& file : FindSuiteFiles(options.scenarios)) {
    if (file.find(options.filter) != file.npos) files.push_back(file);
  }
  return files;
}

void PrintMutations() {
  for (const MutationGroup& group : AllMutationGroups()) {
    fmt::print("{:<20} {}\n", group.name, group.description);
    for (const Mutation& mutation : AllMutations()) {
      if (mutation.group == group.name) fmt::print("    {}\n", mutation.name);
    }
  }
}

int Run(const Options& options) {
  if (options.list) {
    PrintMutations();
    return 0;
  }
  const Result<std::vector<Case>> cases = LoadCases(FilesOf(options));
  if (!cases.ok()) {
    fmt::print(stderr, "error: {}\n", cases.status().message());
    return 2;
  }
  References references("", "");
  size_t begun = 0;
  const bool on_terminal = isatty(STDERR_FILENO) == 1;
  const Result<MutationTable> table = MeasureJudge(
      *cases, references,
      {.places = options.places,
       .judge = nullptr,
       .progress = [&](std::string_view name) {
         ++begun;
         if (!on_terminal) return;
         fmt::print(stderr, "\r{}/{} {:<60.60}", begun, cases->size(), name);
       }});
  if (on_terminal) fmt::print(stderr, "\r{:<80}\r", "");
  if (!table.ok()) {
    fmt::print(stderr, "error: {}\n", table.status().message());
    return 2;
  }
  fmt::print("{}", options.pinned ? RenderPins(*table) : RenderTable(*table));
  if (options.survivors) {
    fmt::print("\n{}", RenderSurvivors(*table));
  } else if (!options.pinned) {
    fmt::print("\n{}", RenderSurvivorCounts(*table));
  }
  if (options.json_file.empty()) return 0;
  std::ofstream file(options.json_file);
  file << TableToJson(*table) << std::flush;
  if (file) return 0;
  fmt::print(stderr, "error: {} cannot be written\n", options.json_file);
  return 2;
}

}  // namespace
}  // namespace gauntlet

int main(int argc, char** argv) {
  gauntlet::Options options;
  CLI::App app(
      "Mutates the records of scenarios that pass in the simulated world, and "
      "counts the mutants that the judge fails.");
  app.add_option("--scenarios", options.scenarios, "folder of the suites");
  app.add_option("-k,--filter", options.filter,
                 "only files with this text in their path");
  app.add_option("--places", options.places,
                 "mutants of each mutation and record, at other places")
      ->check(CLI::PositiveNumber);
  app.add_flag("--pinned", options.pinned,
               "run what the test runs, and print the rows of pinned_cells.h");
  app.add_flag("--list", options.list, "print all mutations and run nothing");
  app.add_flag("--survivors", options.survivors,
               "list each mutant that passed, with scenario and place");
  app.add_option("--json", options.json_file, "also write the table to a file");
  CLI11_PARSE(app, argc, argv);
  return gauntlet::Run(options);
}
