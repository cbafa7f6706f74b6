#include "harness/cli/scenario/label_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

using Labels = std::vector<std::string>;

bool Matches(const std::string& expression, const Labels& labels) {
  const auto matcher = ParseLabelExpression(expression);
  EXPECT_TRUE(matcher.ok()) << matcher.status().ToString();
  return matcher.ok() && (*matcher)(labels);
}

TEST(LabelExpressionTest, LabelMatchesItself) {
  EXPECT_TRUE(Matches("smoke", {"slow", "smoke"}));
  EXPECT_FALSE(Matches("smoke", {"smokes"}));
  EXPECT_TRUE(Matches("found:grace/killed", {"found:grace/killed"}));
}

TEST(LabelExpressionTest, NotBindsCloserThanAndThanOr) {
  EXPECT_TRUE(Matches("not a and b", {"b"}));
  EXPECT_FALSE(Matches("not a and b", {"a", "b"}));
  EXPECT_TRUE(Matches("a or b and c", {"a"}));
  EXPECT_FALSE(Matches("(a or b) and c", {"a"}));
  EXPECT_TRUE(Matches("not(a)or not not b", {"a", "b"}));
  EXPECT_TRUE(Matches("not (a or b)", {"c"}));
}

TEST(LabelExpressionTest, TakesALabelInQuotesAsItIs) {
  const Labels labels = {"data loader", "not", "(x)", "it's"};
  EXPECT_TRUE(Matches("\"data loader\"", labels));
  EXPECT_TRUE(Matches("'data loader' and not slow", labels));
  EXPECT_FALSE(Matches("not ('data loader')", labels));
  EXPECT_FALSE(Matches("'data  loader'", labels));
  EXPECT_TRUE(Matches("'not' and \"(x)\" and \"it's\" and it's", labels));
  EXPECT_EQ(LabelsIn("'data loader' or smoke"),
            (Labels{"data loader", "smoke"}));
}

TEST(LabelExpressionTest, NamesItsLabels) {
  EXPECT_EQ(LabelsIn("smoke and not(slow or gpu)"),
            (Labels{"smoke", "slow", "gpu"}));
}

TEST(LabelExpressionTest, ReportsErrorsWithTheirPlace) {
  const auto error = [](const std::string& text) {
    const auto matcher = ParseLabelExpression(text);
    EXPECT_FALSE(matcher.ok()) << text;
    return matcher.status().message();
  };
  EXPECT_EQ(error(""), "expected a label at character 1 of '', found the end");
  EXPECT_EQ(error("a and"),
            "expected a label at character 6 of 'a and', found the end");
  EXPECT_EQ(error("a b"),
            "expected and, or or the end at character 3 of 'a b', found 'b'; a "
            "label of several words needs quotes: \"several words\"");
  EXPECT_EQ(error("a 'b'"),
            "expected and, or or the end at character 3 of 'a 'b'', found 'b'");
  EXPECT_EQ(
      error("\"a b"),
      "expected a closing quote at character 5 of '\"a b', found the end");
  EXPECT_EQ(error("a 'b"),
            "expected a closing quote at character 5 of 'a 'b', found the end");
  EXPECT_EQ(error("(a"), "expected ')' at character 3 of '(a', found the end");
  EXPECT_EQ(error("a)"),
            "expected and, or or the end at character 2 of 'a)', found ')'");
  EXPECT_THAT(error("or a"), HasSubstr("expected a label at character 1"));
  EXPECT_THAT(error(std::string(100, '(')),
              HasSubstr("expected at most 32 levels"));
}

}  // namespace
}  // namespace gauntlet
