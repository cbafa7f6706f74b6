#include "engine/ckpt/state/shard_plan.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gauntlet {
namespace {

RC_GTEST_PROP(NameOrderTest, IsTheByteOrderOfTheNames, ()) {
  const auto texts = *rc::gen::unique<std::vector<std::string>>(
      rc::gen::container<std::string>(
          rc::gen::element('a', 'b', '/', '\0', '\xff')));
  std::vector<TensorView> tensors;
  for (const std::string& text : texts) tensors.push_back({.name = text});
  const std::vector<size_t> order = NameOrder(tensors);
  RC_ASSERT(order.size() == tensors.size());
  for (size_t i = 1; i < order.size(); ++i) {
    RC_ASSERT(texts[order[i - 1]] < texts[order[i]]);
  }
}

TEST(FindTensorTest, FindsATensorByItsWholeName) {
  const std::vector<TensorView> tensors = {
      {.name = "a"}, {.name = "a/b"}, {.name = "c"}};
  for (const TensorView& tensor : tensors) {
    EXPECT_EQ(FindTensor(tensors, tensor.name), &tensor);
  }
  for (const char* const name : {"", "a/", "b", "d"}) {
    EXPECT_EQ(FindTensor(tensors, name), nullptr) << name;
  }
  EXPECT_EQ(FindTensor({}, "a"), nullptr);
}

}  // namespace
}  // namespace gauntlet
