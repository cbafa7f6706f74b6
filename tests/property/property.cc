#include "tests/property/property.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/check.h"
#include "engine/digest.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOnly = "GAUNTLET_COUNTEREXAMPLE";

// Returns the program and the test that are running.
std::string ThisTest() {
  const testing::TestInfo* const test =
      testing::UnitTest::GetInstance()->current_test_info();
  CHECK(test != nullptr, "outside of a test");
  return fmt::format("{} --gtest_filter={}.{}",
                     fs::read_symlink("/proc/self/exe").string(),
                     test->test_suite_name(), test->name());
}

Counterexample ReadCounterexample(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  CHECK(in.good(), path.string() + ": cannot be read");
  return {.path = path.string(),
          .text = {std::istreambuf_iterator<char>(in), {}}};
}

}  // namespace

void ChooseNumberOfCases() {
  // RapidCheck reads the variable once, at its first check; without it, it runs
  // 100 cases.
  setenv("RC_PARAMS", "max_success=1000", /*overwrite=*/0);
}

bool OnlyOneIsTried() { return std::getenv(kOnly) != nullptr; }

std::vector<Counterexample> CounterexamplesOf(std::string_view property) {
  std::vector<Counterexample> kept;
  if (const char* only = std::getenv(kOnly)) {
    const fs::path path = fs::absolute(only);
    if (path.parent_path().filename() == property) {
      kept.push_back(ReadCounterexample(path));
    }
    return kept;
  }
  const fs::path folder = fs::path(GAUNTLET_COUNTEREXAMPLES) / property;
  if (!fs::exists(folder)) return kept;
  for (const auto& file : fs::directory_iterator(folder)) {
    kept.push_back(ReadCounterexample(file.path()));
  }
  std::ranges::sort(kept, {}, &Counterexample::path);
  return kept;
}

std::string KeepCounterexample(std::string_view property,
                               const std::string& text) {
  const fs::path folder = fs::path(GAUNTLET_NEW_COUNTEREXAMPLES) / property;
  fs::create_directories(folder);
  const fs::path path = folder / (DigestOf(text).Short() + ".txt");
  std::ofstream(path, std::ios::binary) << text;
  return fmt::format(
      "counterexample: {0}\nto try it again: {3}={0} {4}\n"
      "to keep it: cp {0} tests/property/counterexamples/{1}/\n{2}",
      path.string(), property, text, kOnly, ThisTest());
}

}  // namespace gauntlet
