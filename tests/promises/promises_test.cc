// Keeps tests/PROMISES.md true: every promise is listed once, and everything
// that it names exists.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot(GAUNTLET_ROOT);

// Number of promises per section.
const std::map<char, int> kSections = {{'C', 18}, {'D', 6},  {'K', 16},
                                       {'B', 11}, {'F', 11}, {'S', 6},
                                       {'P', 4},  {'R', 8}};

std::string ReadText(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the names in backquotes in each row's last column, by the row's
// number.
std::multimap<std::string, std::vector<std::string>> Rows() {
  std::multimap<std::string, std::vector<std::string>> rows;
  std::istringstream lines(ReadText(kRoot / "tests/PROMISES.md"));
  const std::regex row(R"(^\| ([A-Z][0-9]+) \|.*\|([^|]*)\|$)");
  const std::regex name("`([^`]+)`");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    const std::string shown = match[2];
    std::vector<std::string> names;
    for (std::sregex_iterator i(shown.begin(), shown.end(), name), end;
         i != end; ++i) {
      names.push_back((*i)[1]);
    }
    rows.emplace(match[1], std::move(names));
  }
  return rows;
}

// Returns "Suite.Name" of every test under tests/, and "Suite.*" of every
// suite.
std::set<std::string> Tests() {
  std::set<std::string> tests;
  const std::regex test(
      R"((?:TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+),\s*(\w+))");
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "tests")) {
    if (entry.path().extension() != ".cc") continue;
    const std::string text = ReadText(entry.path());
    for (std::sregex_iterator i(text.begin(), text.end(), test), end; i != end;
         ++i) {
      tests.insert(fmt::format("{}.{}", (*i)[1].str(), (*i)[2].str()));
      tests.insert((*i)[1].str() + ".*");
    }
  }
  return tests;
}

TEST(PromisesTest, EachIsThereOnceAndHasSomethingBehindIt) {
  const auto rows = Rows();
  size_t expected = 0;
  for (const auto& [section, count] : kSections) {
    for (int i = 1; i <= count; ++i, ++expected) {
      const std::string number = fmt::format("{}{}", section, i);
      ASSERT_EQ(rows.count(number), 1u) << number;
      EXPECT_FALSE(rows.find(number)->second.empty()) << number;
    }
  }
  EXPECT_EQ(rows.size(), expected);
}

TEST(PromisesTest, EveryTestThatARowNamesExists) {
  const std::set<std::string> tests = Tests();
  ASSERT_GT(tests.size(), 1000u);
  for (const auto& [number, names] : Rows()) {
    for (const std::string& name : names) {
      const bool is_path = name.find('/') != std::string::npos;
      EXPECT_TRUE(is_path ? fs::exists(kRoot / name) : tests.contains(name))
          << number << " names " << name;
    }
  }
}

}  // namespace
}  // namespace gauntlet
