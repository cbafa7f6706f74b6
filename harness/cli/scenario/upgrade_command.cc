#include "harness/cli/scenario/upgrade_command.h"

#include "engine/cli/exit_code.h"
#include "engine/cli/flags/flags.h"
#include "harness/cli/scenario/scenario_files.h"
#include "harness/scenario/format/upgrade.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

Result<std::string> UpgradeFile(const std::string& file, Storage& storage) {
  const Result<std::string> text = ReadFile(storage, file, kMaxScenarioBytes);
  if (text.status().code() == Code::kNotFound) {
    return NotFound(NoSuchScenario(file, "file"));
  }
  if (!text.ok()) return text.status();
  return UpgradeText(*text, file);
}

}  // namespace

int RunUpgrade(const UpgradeCommand& command, Storage& storage,
               Console& console) {
  const Result<std::string> upgraded = UpgradeFile(command.file, storage);
  if (!upgraded.ok()) {
    fmt::print(console.err, "gauntlet upgrade: {}\n",
               upgraded.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  console.out << *upgraded;
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace gauntlet
