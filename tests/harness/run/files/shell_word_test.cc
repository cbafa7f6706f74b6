#include "harness/run/files/shell_word.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

struct Word {
  std::string text;
  std::string shown;
};

TEST(ShellWordTest, IsQuotedIfNecessary) {
  const Word table[] = {
      {"scenarios/a-b_c.yaml", "scenarios/a-b_c.yaml"},
      {"", "''"},
      {"a b", "'a b'"},
      {"it's", "'it'\\''s'"},
      {"$HOME;`ls`", "'$HOME;`ls`'"},
      {"größe.yaml", "'größe.yaml'"},
      {"\xc2\xa0", "'\xc2\xa0'"},
  };
  for (const Word& word : table) {
    EXPECT_EQ(ShellWord(word.text), word.shown);
  }
}

TEST(ShellWordTest, EscapesUnprintableBytes) {
  const Word table[] = {
      {"\x1b[31m.yaml", "$'\\x1b[31m.yaml'"},
      {"a\nb", "$'a\\x0ab'"},
      {"it's\\\t\xc3\xbc", "$'it\\'s\\\\\\x09\\xc3\\xbc'"},
      {"\x7f", "$'\\x7f'"},
      {"\xc2\x9b", "$'\\xc2\\x9b'"},
      {"no\xfftext", "$'no\\xfftext'"},
  };
  for (const Word& word : table) {
    EXPECT_EQ(ShellWord(word.text), word.shown);
  }
}

}  // namespace
}  // namespace gauntlet
