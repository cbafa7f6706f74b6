// Common mistakes in YAML, and the position and message for each.
#include <string>

#include <gtest/gtest.h>

#include "harness/scenario/scenario.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns "2:1: message; hint" for the first error.
std::string FirstError(const std::string& text) {
  const LoadedFile loaded = LoadScenarios(text, "f.yaml");
  if (loaded.errors.empty()) return "no error";
  const auto& [place, message, hint] = loaded.errors[0];
  return fmt::format("{}:{}: {}{}{}", place.line, place.column, message,
                     hint.empty() ? "" : "; ", hint);
}

struct Mistake {
  const char* text;
  const char* error;
};

TEST(YamlMistakesTest, NamesPlaceAndChange) {
  const std::string indent =
      "; indent it as the other keys, or items, of the same map or list";
  const Mistake kMistakes[] = {
      {"a:\n\tb: 1\n", "2:1: found a tab in the indentation; expected spaces"},
      {"a:\n  b: 1\n  \tc: 2\n",
       "3:3: found a tab in the indentation; expected spaces"},
      {"# x\ty\na 1\nb: 2\n",
       "2:1: expected ': ' after a key, found 'a 1'; "
       "a: 1"},
      {"a:\n  - b 1 # c: d\n    e: 2\n",
       "2:5: expected ': ' after a key, found '- b 1'; b: 1"},
      {"a:1\n\nb: 2\n", "1:1: expected ': ' after a key, found 'a:1'; a: 1"},
      {"a: {b: 1}\nc\nd e\n",
       "3:1: expected ': ' after a key, found 'd e'; d: e"},
      {"a: {b: {c: 1}\nd: 2\n",
       "1:4: '{' is not closed: expected a '}' after it"},
      {"a: b: c\n",
       "1:5: found a second ':' in one line; put a value that has one in "
       "quotes"},
      {"a:\n  -b: 1\n    c: 2\n",
       "2:3: expected a space after '-', found '-b: 1'; - b: 1"},
      {"a: - b\n",
       "1:4: expected the first item of a list on a new line, found it after "
       "its key; or write the list as [a, b]"},
      {"a: [1, 2\n", "1:4: '[' is not closed: expected a ']' after it"},
      {"a: {b: 1\nc: 2\n", "1:4: '{' is not closed: expected a '}' after it"},
      {"c: 2\na: {b: 1", "2:4: '{' is not closed: expected a '}' after it"},
      {"a: {b: '}'\nc: 2\n", "1:4: '{' is not closed: expected a '}' after it"},
      {"a: {b: 1 c: 2}\n",
       "1:11: expected ',' or '}' before this; put a value that has ': ' or "
       "',' in quotes"},
      {"a: [1]]\n",
       "1:7: ']' closes nothing that is open here; remove it, or close first "
       "what was opened last"},
      {"a: @b\n", "1:4: a value cannot begin with '@'; put it in quotes"},
      {"a: \"b\nc: 1\n",
       "1:4: the quote is not closed; expected a second one after the value"},
      {"a: \"b\" c\n",
       "1:8: expected nothing after a value in quotes; put the whole value in "
       "quotes"},
      {"a: 1\nb: 2\na: 3\n",
       "3:1: duplicate key 'a', first in line 1; remove one of the "
       "two"},
      {"a: \"x\\qz\"\n", "1:8: not YAML: unknown escape character: q"},
  };
  for (const auto& [text, error] : kMistakes) {
    EXPECT_EQ(FirstError(text), error) << text;
  }
  EXPECT_EQ(FirstError("a:\n  b: 1\n   c: 2\n"),
            "3:4: indented deeper than line 2, whose key has a value" + indent);
  EXPECT_EQ(FirstError("a:\n  - b: 1\n   c: 2\n"),
            "3:4: indented by 3 spaces, unlike each map and list above that is "
            "still open" +
                indent);
}

// Not every tab, quote or colon is a mistake.
TEST(YamlMistakesTest, AcceptsValidYaml) {
  const std::string head =
      "schema: gauntlet/v2\nname: a\nexpect: {outcome: completes}\n";
  for (const char* rest :
       {"labels: [a,\n\tb]\n", "labels: [\"a\\\"b\", 'it''s', \"c: d\"]\n",
        "labels:\n- a\n-\tb\n", "\t# c\n", "labels: ['\"']\n"}) {
    EXPECT_EQ(FirstError(head + rest), "no error") << rest;
  }
}

}  // namespace
}  // namespace gauntlet
