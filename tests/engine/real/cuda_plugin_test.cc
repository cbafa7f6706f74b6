#include "engine/real/cuda_plugin.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

TEST(CudaPluginTest, ALibraryOfAnotherBuildIsRefusedInOneLine) {
  struct Refused {
    const char* file;
    std::string message;
  };
  const std::string ours =
      fmt::format("expected interface {}, found ", gpu::kDeviceAbi);
  const Refused cases[] = {
      {FAKE_DEVICE_OTHER_ABI, ours + "another one"},
      {FAKE_DEVICE_NEWER_ABI, ours + "1000"},
      {FAKE_DEVICE_OTHER_NUMERICS, "version 1 of the numerics, found 1000"},
      {FAKE_DEVICE_WITHOUT_ENTRY, "expected a function gauntlet_cuda_device"}};
  for (const auto& c : cases) {
    const Status status = OpenDeviceLibrary(c.file).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(c.file));
    EXPECT_THAT(status.message(), HasSubstr(c.message));
  }
}

TEST(CudaPluginTest, WhatIsNoLibraryIsNotFound) {
  const std::string file = ::testing::TempDir() + "not_a_library.so";
  std::ofstream(file) << "not a library";
  for (const std::string& path : {file, std::string("/nowhere/nothing.so")}) {
    const Status status = OpenDeviceLibrary(path).status();
    EXPECT_EQ(status.code(), Code::kNotFound);
    EXPECT_THAT(status.message(), HasSubstr(path));
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
  }
  unlink(file.c_str());
}

TEST(CudaPluginTest, WithoutADriverThereIsNoCuda) {
  if (FindCudaDriver().ok()) GTEST_SKIP() << "this machine has a driver";
  const Status status = OpenCuda().status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("libcuda.so.1"));
}

TEST(CudaPluginTest, TheLibraryLoadsAndCountsDevicesWithoutADriver) {
  const std::string file = CUDA_LIBRARY;
  if (file.empty()) GTEST_SKIP() << "built without nvcc (preset gpu)";
  const auto api = OpenDeviceLibrary(file);
  ASSERT_TRUE(api.ok()) << api.status().message();
  gpu::DeviceText why;
  const int count = (*api)->count(&why);
  if (FindCudaDriver().ok()) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(count, -1);
  EXPECT_THAT(why.text, HasSubstr("cudaErrorInsufficientDriver"));
  why = {};
  EXPECT_EQ((*api)->open(0, &why), nullptr);
  EXPECT_THAT(why.text, HasSubstr("driver"));
}

}  // namespace
}  // namespace gauntlet
