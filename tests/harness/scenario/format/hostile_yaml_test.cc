// Hostile YAML: the loader must refuse it quickly, in one message, and never
// crash.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/scenario/scenario.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

std::string FirstError(const std::string& text) {
  const LoadedFile loaded = LoadScenarios(text, "f.yaml");
  EXPECT_TRUE(loaded.cases.empty());
  if (loaded.errors.empty()) return "no error";
  const Diagnostic& first = loaded.errors[0];
  return std::to_string(first.place.line) + ":" +
         std::to_string(first.place.column) + ": " + first.message;
}

std::string Repeat(const std::string& text, size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(HostileYamlTest, IsRefusedByName) {
  const struct {
    std::string text;
    std::string expected;
  } kCases[] = {
      {"", "1:1: expected a scenario, found nothing"},
      {"# only this\n", "1:1: expected a scenario, found nothing"},
      {"[1, 2]", "1:1: expected a map, found a list"},
      {"hello", "1:1: expected a map, found 'hello'"},
      {"~", "1:1: expected a map, found nothing"},
      {"a: &x 1\nb: *x\n", "anchors ('&x') are not part of scenarios"},
      {"a: *x\n", "not YAML: "},
      {"a: !!binary abc\n", "are not part of scenarios"},
      {"a: {<<: {b: 1}}\n", "1:5: merge keys ('<<') are not part"},
      {"? [a, b]\n: c\n", "expected a name as the key, found a list"},
      {"? {a: b}\n: c\n", "expected a name as the key, found a map"},
      {"a: 1\nb: 2\na: 3\n", "3:1: duplicate key 'a'"},
      {"a: {b: 1, b: 2}\n", "1:11: duplicate key 'b'"},
      {"a: {b: 'c\n", "1:8: the quote is not closed"},
      {",a: 1\n", "1:1: not YAML: no key, value or document begins here"},
      {"a: 1\n---\n]\n", "3:1: ']' closes nothing that is open here"},
      {std::string("a: \0b\n", 6), "1:4: control character 0x00"},
      {"a: \x1b[2J\n", "1:4: control character 0x1b"},
      {"%YAML 9.9\n---\na: 1\n", ""},
      {Repeat("x", kMaxScenarioBytes + 1), "expected at most 1048576 bytes"},
  };
  for (const auto& [text, expected] : kCases) {
    EXPECT_THAT(FirstError(text), HasSubstr(expected)) << text.substr(0, 40);
    EXPECT_NE(FirstError(text), "no error");
  }
}

TEST(HostileYamlTest, NestingIsBoundedWhateverItsForm) {
  for (const std::string& level :
       {std::string("["), std::string("{"), std::string("[ "),
        std::string("- "), std::string("{a: "), std::string("? "),
        std::string("[{a: ")}) {
    const std::string text = Repeat(level, 100'000 / level.size());
    const auto start = std::chrono::steady_clock::now();
    EXPECT_NE(FirstError(text), "no error") << level;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5))
        << level;
  }
}

TEST(HostileYamlTest, HundredMegabytesOfBracketsAreRefusedAtOnce) {
  const std::string text(100'000'000, '[');
  EXPECT_THAT(FirstError(text), HasSubstr("expected at most 1048576 bytes"));
}

TEST(HostileYamlTest, AliasBombDoesNotExpand) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
            before + ", " + before + "]\n";
  }
  EXPECT_THAT(FirstError(text), HasSubstr("anchors ('&a0')"));
}

TEST(HostileYamlTest, EveryTruncationOfAGoodFileIsGoodOrRefused) {
  const std::string text =
      "schema: gauntlet/v2\nname: a\nfaults:\n  - {id: x, at: {worker: 1, "
      "point: ckpt.compare_digests}, do: crash, with: {exit_code: 3}}\n"
      "matrix: {seed: [2, 4]}\nexpect: {outcome: recovers}\n";
  ASSERT_TRUE(LoadScenarios(text, "f").errors.empty());
  for (size_t length = 0; length < text.size(); ++length) {
    const LoadedFile loaded = LoadScenarios(text.substr(0, length), "f");
    EXPECT_NE(loaded.errors.empty(), loaded.cases.empty()) << length;
  }
}

TEST(HostileYamlTest, EveryByteReplacedIsGoodOrRefused) {
  const std::string text =
      "schema: gauntlet/v2\nname: a\nfaults: [{at: {step: 3}, do: crash}]\n"
      "expect: {outcome: recovers}\n";
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char c : std::string("\0\n:[]{}&*!|>'\"%@`#-,?\xff", 23)) {
      std::string spoiled = text;
      spoiled[at] = c;
      const LoadedFile loaded = LoadScenarios(spoiled, "f");
      EXPECT_NE(loaded.errors.empty(), loaded.cases.empty()) << spoiled;
    }
  }
}

}  // namespace
}  // namespace gauntlet
