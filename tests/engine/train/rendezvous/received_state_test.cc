#include "engine/train/rendezvous/received_state.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "engine/ckpt/format/safetensors.h"

namespace gauntlet {
namespace {

// Two tensors and their encoding.
struct EncodedState {
  EncodedState() {
    std::iota(small.begin(), small.end(), 0.0F);
    std::iota(large.begin(), large.end(), 100.0F);
    const std::vector<TensorView> tensors = {
        {.name = "b",
         .shape = {small.size()},
         .bytes = std::as_bytes(std::span(small))},
        {.name = "a",
         .shape = {large.size()},
         .bytes = std::as_bytes(std::span(large))}};
    const SafetensorsLayout layout = LayOutSafetensors(tensors, 3);
    bytes = layout.header;
    for (const size_t i : layout.order) {
      bytes.append(reinterpret_cast<const char*>(tensors[i].bytes.data()),
                   tensors[i].bytes.size());
    }
  }

  std::vector<float> small = std::vector<float>(3);
  std::vector<float> large = std::vector<float>(500);
  std::string bytes;
};

// Takes the bytes in chunks of `chunk` bytes.
Result<std::vector<TensorView>> TakeAll(ReceivedState& received,
                                        const std::string& bytes,
                                        size_t chunk) {
  const auto all = std::as_bytes(std::span(bytes));
  for (size_t at = 0; at < all.size(); at += chunk) {
    received.Take(all.subspan(at, std::min(chunk, all.size() - at)),
                  all.size());
  }
  return received.Finish();
}

TEST(ReceivedStateTest, TensorsAreComplete_WhateverTheSizeOfTheChunks) {
  const EncodedState state;
  for (const size_t chunk :
       {size_t{1}, size_t{7}, size_t{512}, state.bytes.size()}) {
    ReceivedState received({});
    const auto tensors = TakeAll(received, state.bytes, chunk);
    ASSERT_TRUE(tensors.ok()) << tensors.status().ToString();
    ASSERT_EQ(tensors->size(), 2U);
    EXPECT_EQ((*tensors)[0].name, "a");
    EXPECT_TRUE(std::ranges::equal((*tensors)[0].bytes,
                                   std::as_bytes(std::span(state.large))));
    EXPECT_TRUE(std::ranges::equal((*tensors)[1].bytes,
                                   std::as_bytes(std::span(state.small))));
  }
}

TEST(ReceivedStateTest, TensorWithAPlaceArrivesThere) {
  const EncodedState state;
  std::vector<float> place(state.large.size());
  ReceivedState received([&place](const TensorView& tensor) {
    return tensor.name == "a" ? std::as_writable_bytes(std::span(place))
                              : std::span<std::byte>();
  });
  const auto tensors = TakeAll(received, state.bytes, 100);
  ASSERT_TRUE(tensors.ok());
  EXPECT_EQ(place, state.large);
  EXPECT_EQ(static_cast<const void*>((*tensors)[0].bytes.data()),
            static_cast<const void*>(place.data()));
}

TEST(ReceivedStateTest, OtherBytesAreRefused) {
  const EncodedState state;
  std::string bad_header = state.bytes;
  bad_header[9] = 'x';
  std::string long_header = state.bytes;
  long_header[6] = 'x';
  for (const std::string& bytes :
       {bad_header, long_header, state.bytes + "x", state.bytes.substr(0, 8),
        std::string("short"), std::string()}) {
    for (const size_t chunk : {size_t{3}, size_t{4096}}) {
      ReceivedState received({});
      EXPECT_EQ(TakeAll(received, bytes, chunk).status().code(),
                Code::kDataLoss);
    }
  }
}

}  // namespace
}  // namespace gauntlet
