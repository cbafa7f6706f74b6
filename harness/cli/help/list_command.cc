#include "harness/cli/help/list_command.h"

#include "engine/cli/exit_code.h"
#include "engine/utf8.h"
#include "harness/cli/help/catalog.h"
#include "harness/cli/scenario/scenario_files.h"
#include "harness/scenario/scenario.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns an entry such as "kill-w1  crash checkpoint
// scenarios/smoke/kill-w1.yaml:7".
CatalogEntry EntryOf(const Case& one) {
  const std::string labels = fmt::format("{}", fmt::join(one.labels, " "));
  return {one.name,
          fmt::format("[{}] {}:{}", EscapeBytes(labels), one.file, one.line)};
}

int ListScenarios(const ListCommand& command, Storage& storage,
                  Console& console) {
  constexpr const char* kHere = "scenarios";
  const bool has_paths = !command.paths.empty();
  const auto files = FindScenarioFiles(
      storage, has_paths ? command.paths : std::vector<std::string>{kHere});
  if (!has_paths && files.status().code() == Code::kNotFound) {
    fmt::print(console.err,
               "gauntlet list: scenarios: expected files or folders behind it, "
               "as there is no folder ./{} here\n",
               kHere);
    return static_cast<int>(ExitCode::kUsage);
  }
  if (!files.ok()) {
    fmt::print(console.err, "gauntlet list: {}\n", files.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  std::vector<CatalogEntry> entries;
  bool mistakes = false;
  for (const std::string& file : *files) {
    const Result<std::string> text = ReadFile(storage, file, kMaxScenarioBytes);
    if (!text.ok()) {
      fmt::print(console.err, "gauntlet list: {}\n", text.status().message());
      mistakes = true;
      continue;
    }
    const LoadedFile loaded = LoadScenarios(*text, file);
    console.err << RenderOldSpellings(loaded, file)
                << RenderWarnings(loaded, file, *text);
    for (const Case& one : loaded.cases) entries.push_back(EntryOf(one));
    if (loaded.errors.empty()) continue;
    console.err << RenderErrors(loaded, file, *text);
    mistakes = true;
  }
  console.out << RenderEntries(entries);
  if (mistakes) return static_cast<int>(ExitCode::kUsage);
  if (!entries.empty()) return static_cast<int>(ExitCode::kOk);
  fmt::print(
      console.err, "gauntlet list: no scenario in {}\n",
      has_paths ? fmt::format("{}", fmt::join(command.paths, ", ")) : kHere);
  return static_cast<int>(ExitCode::kNothingSelected);
}

}  // namespace

int RunList(const ListCommand& command, Storage& storage, Console& console) {
  if (command.catalog == Catalog::kScenarios) {
    return ListScenarios(command, storage, console);
  }
  console.out << RenderEntries(EntriesOf(command.catalog));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace gauntlet
