#include "engine/ckpt/format/safetensors.h"

#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/format/safetensors_format.h"
#include "engine/ckpt/io/finite_scan.h"
#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

std::string FileOf(std::span<const TensorView> tensors) {
  const SafetensorsLayout layout = LayOutSafetensors(tensors, 7);
  std::string file = layout.header;
  for (const size_t i : layout.order) {
    for (const std::byte b : tensors[i].bytes) file += static_cast<char>(b);
  }
  return file;
}

std::string WithHeader(const std::string& json, size_t data_bytes) {
  const uint64_t length = json.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + json + std::string(data_bytes, 'd');
}

auto Parse(const std::string& file) {
  return ParseSafetensors(std::as_bytes(std::span(file)));
}

TEST(SafetensorsTest, ReadsBackWhatWasWritten) {
  const TestState state(9);
  const std::string file = FileOf(state.Views());
  const auto views = Parse(file);
  ASSERT_TRUE(views.ok()) << views.status().ToString();
  ASSERT_EQ(views->size(), state.tensors.size());
  for (const TensorView& view : *views) {
    const Tensor& tensor = state.tensors.at(view.name);
    EXPECT_EQ(view.shape, tensor.shape);
    EXPECT_EQ(std::vector(view.bytes.begin(), view.bytes.end()), tensor.bytes);
  }
}

// Other programs may lay out the header differently.
TEST(SafetensorsTest, ReadsOtherLayoutsOfTheHeader) {
  const TestState state(9);
  const std::string file = FileOf(state.Views());
  const size_t brace = file.find('{');
  std::string other = file;
  for (const size_t at : {brace + 1, file.find(':') + 1}) {
    const size_t space = other.find("}} ") + 2;
    ASSERT_EQ(other[space], ' ') << "the header has no padding to spare";
    other.erase(space, 1);
    other.insert(at, 1, ' ');
    const auto views = Parse(other);
    const auto expected = Parse(file);
    ASSERT_TRUE(views.ok()) << views.status().ToString();
    ASSERT_EQ(views->size(), expected->size());
    for (size_t i = 0; i < views->size(); ++i) {
      EXPECT_EQ((*views)[i].name, (*expected)[i].name);
      EXPECT_EQ((*views)[i].dtype, (*expected)[i].dtype);
      EXPECT_EQ((*views)[i].shape, (*expected)[i].shape);
      EXPECT_TRUE(std::ranges::equal((*views)[i].bytes, (*expected)[i].bytes));
    }
  }
}

// A reader that has only the beginning of a file learns where its tensors are.
TEST(SafetensorsTest, HeaderHasTheRangesOfTheTensors) {
  const std::string file = FileOf(TestState(9).Views());
  const auto bytes = std::as_bytes(std::span(file));
  const auto size = SafetensorsHeaderBytes(bytes.first(8), bytes.size());
  ASSERT_TRUE(size.ok()) << size.status().ToString();
  const auto entries = ParseSafetensorsHeader(bytes.first(*size), bytes.size());
  ASSERT_TRUE(entries.ok()) << entries.status().ToString();
  const auto views = Parse(file);
  ASSERT_EQ(entries->size(), views->size());
  uint64_t at = *size;
  for (size_t i = 0; i < views->size(); ++i) {
    const SafetensorsEntry& entry = (*entries)[i];
    EXPECT_EQ(entry.tensor.name, (*views)[i].name);
    EXPECT_EQ(entry.begin, at);
    EXPECT_EQ(entry.end, at + (*views)[i].bytes.size());
    at = entry.end;
  }
  EXPECT_EQ(at, bytes.size());
}

TEST(SafetensorsTest, AlignsDataAndPutsWideElementsFirst) {
  const TestState state(9);
  const auto views = state.Views();
  const SafetensorsLayout layout = LayOutSafetensors(views, 7);
  EXPECT_EQ(layout.header.size() % kSafetensorsAlignment, 0u);
  std::vector<std::string> order;
  for (const size_t i : layout.order) order.push_back(views[i].name);
  EXPECT_THAT(order, testing::ElementsAre("position/step", "dense0/bias",
                                          "dense0/kernel", "rng/key"));
}

TEST(SafetensorsTest, TakesScalarsEmptyTensorsAndEmptyFiles) {
  const float one = 1.0f;
  const std::vector<TensorView> tensors = {
      {.name = "scalar",
       .shape = {},
       .bytes = std::as_bytes(std::span(&one, 1))},
      {.name = "empty", .shape = {0, 3}, .bytes = {}}};
  EXPECT_EQ(Parse(FileOf(tensors))->size(), 2u);
  EXPECT_EQ(Parse(FileOf({}))->size(), 0u);
}

TEST(SafetensorsTest, NamesWithEscapes_AreReadBack) {
  const std::vector<TensorView> tensors = {
      {.name = "a \"quoted\" back\\slash", .shape = {0}},
      {.name = "caf\xc3\xa9\n", .shape = {0}}};
  const std::string file = FileOf(tensors);
  const auto views = Parse(file);
  ASSERT_TRUE(views.ok()) << views.status().ToString();
  ASSERT_EQ(views->size(), 2u);
  EXPECT_EQ((*views)[0].name, tensors[0].name);
  EXPECT_EQ((*views)[1].name, tensors[1].name);
}

struct HostileCase {
  std::string file;
  std::string message;
};

std::string Entry(const std::string& fields) {
  return R"({"a":{)" + fields + "}}";
}

TEST(SafetensorsTest, RefusesHostileBytesWithAReason) {
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  const std::vector<HostileCase> cases = {
      {"", "at least 8 bytes"},
      {std::string(8, '\xff'), "header: expected at most"},
      {WithHeader("", 0), "starts with '{'"},
      {WithHeader("{", 0), "JSON"},
      {WithHeader(" {}", 0), "starts with '{'"},
      {WithHeader(std::string(1 << 20, '['), 0), "starts with '{'"},
      {WithHeader("{\"a\":" + std::string(500000, '['), 0), "16 deep"},
      {WithHeader(Entry(good), 7), "ends at 8"},
      {WithHeader(Entry(good), 9), "belong to no tensor"},
      {WithHeader(Entry(good + R"(,"more":1)"), 8), "unknown key"},
      {WithHeader(R"({"a":1})", 8), "expected an object"},
      {WithHeader(R"({"__metadata__":{"a":1}})", 0), "__metadata__"},
      {WithHeader(Entry(R"("dtype":"BF16","shape":[4],"data_offsets":[0,8])"),
                  8),
       "dtype"},
      {WithHeader(Entry(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"),
                  8),
       "integers"},
      {WithHeader(Entry(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"),
                  8),
       "integers"},
      {WithHeader(Entry(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"),
                  8),
       "[begin, end)"},
      {WithHeader(Entry(R"("dtype":"F32","shape":[4611686018427387904,4],)"
                        R"("data_offsets":[0,0])"),
                  0),
       "more than 2^64"},
      {WithHeader(Entry(R"("dtype":"F32","shape":[99999999999999999999],)"
                        R"("data_offsets":[0,0])"),
                  0),
       "integers"},
      {WithHeader("{\"a\":{" + good + "},\"a\":{" + good + "}}", 8), "twice"},
      {WithHeader("{\"a\":{" + good + "},\"b\":{" + good + "}}", 8), "overlap"},
      {WithHeader(Entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"),
                  8),
       "hole"},
  };
  for (const HostileCase& hostile : cases) {
    const auto views = Parse(hostile.file);
    ASSERT_FALSE(views.ok()) << hostile.message;
    EXPECT_EQ(views.status().code(), Code::kDataLoss);
    EXPECT_THAT(views.status().message(), HasSubstr(hostile.message));
  }
}

TEST(SafetensorsTest, RefusesEveryTruncation) {
  const std::string file = FileOf(TestState(3).Views());
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(Parse(file.substr(0, size)).ok()) << size;
  }
}

// Returns the names of the tensors in which a scan finds values that are not
// finite. `value` is at index `place` of dense0/kernel. The tensor of integers
// holds the bits of infinities, which must not count.
std::vector<std::string> NotFiniteIn(float value, size_t place, size_t block) {
  std::vector<float> kernel(3000, 1.0f);
  kernel[place] = value;
  const std::vector<float> bias = {1.0f, -2.0f};
  const std::vector<uint32_t> words(5, 0x7f800000);
  const std::vector<TensorView> tensors = {
      {.name = "dense0/kernel",
       .shape = {3000},
       .bytes = std::as_bytes(std::span(kernel))},
      {.name = "empty", .shape = {0}},
      {.name = "key",
       .dtype = DType::kU32,
       .shape = {5},
       .bytes = std::as_bytes(std::span(words))},
      {.name = "dense0/bias",
       .shape = {2},
       .bytes = std::as_bytes(std::span(bias))}};
  const SafetensorsLayout layout = LayOutSafetensors(tensors, 7);
  const std::string file = FileOf(tensors);
  const auto bytes = std::as_bytes(std::span(file));
  FiniteScan scan(layout, tensors);
  for (size_t at = 0; at < bytes.size(); at += block) {
    scan.Update(bytes.subspan(at, std::min(block, bytes.size() - at)));
  }
  return scan.NotFiniteTensors();
}

TEST(FiniteScanTest, NamesTensorsWithValuesThatAreNotFinite) {
  for (const size_t block : {8u, 4096u, 1u << 20}) {
    EXPECT_THAT(NotFiniteIn(3e38f, 7, block), testing::IsEmpty()) << block;
    for (const size_t place : {0u, 1023u, 2999u}) {
      for (const float odd : {HUGE_VALF, -HUGE_VALF, std::nanf("")}) {
        EXPECT_THAT(NotFiniteIn(odd, place, block),
                    testing::ElementsAre("dense0/kernel"))
            << odd << " at " << place << " in blocks of " << block;
      }
    }
  }
}

}  // namespace
}  // namespace gauntlet
