#include "engine/real/host/library_file.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

std::string BytesOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The loader would map such a file, and read beyond its end.
TEST(LibraryFileTest, LibraryThatIsCutOffIsNotFound) {
  const std::string file = ::testing::TempDir() + "cut_off.so";
  const std::string bytes = BytesOf(FAKE_DEVICE_NEWER_ABI);
  for (const size_t size :
       {size_t{64}, size_t{4000}, bytes.size() - 1000, bytes.size() - 1}) {
    std::ofstream(file, std::ios::binary) << bytes.substr(0, size);
    const Status status = CheckLibraryFile(file);
    EXPECT_EQ(status.code(), Code::kNotFound) << size;
    EXPECT_THAT(
        status.message(),
        HasSubstr(fmt::format("{}: cut off: expected {} bytes, found {}", file,
                              bytes.size(), size)));
  }
  unlink(file.c_str());
}

// Without a section table, only the segments show the length of a library.
TEST(LibraryFileTest, LibraryThatIsCutOffInASegmentIsNotFound) {
  const std::string file = ::testing::TempDir() + "no_sections.so";
  std::string bytes = BytesOf(FAKE_DEVICE_NEWER_ABI);
  Elf64_Ehdr header;
  ASSERT_GE(bytes.size(), sizeof(header));
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.e_shoff = 0;
  header.e_shnum = 0;
  header.e_shstrndx = SHN_UNDEF;
  std::memcpy(bytes.data(), &header, sizeof(header));
  const auto message = [&](size_t size) {
    std::ofstream(file, std::ios::binary) << bytes.substr(0, size);
    return CheckLibraryFile(file).message();
  };
  EXPECT_EQ(message(bytes.size()), "");
  for (const size_t size : {size_t{100}, size_t{1000}}) {
    EXPECT_THAT(message(size), HasSubstr(fmt::format("found {}", size)));
    EXPECT_THAT(message(size), HasSubstr("cut off"));
  }
  unlink(file.c_str());
}

// GNU strip makes such a file of a library that mold has linked.
TEST(LibraryFileTest, AcceptsRelroThatEndsBehindTheFile) {
  const std::string file = ::testing::TempDir() + "long_relro.so";
  std::string bytes = BytesOf(FAKE_DEVICE_NEWER_ABI);
  Elf64_Ehdr header;
  ASSERT_GE(bytes.size(), sizeof(header));
  std::memcpy(&header, bytes.data(), sizeof(header));
  int changed = 0;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    char* const place = bytes.data() + header.e_phoff + i * sizeof(segment);
    std::memcpy(&segment, place, sizeof(segment));
    if (segment.p_type != PT_GNU_RELRO) continue;
    segment.p_filesz = bytes.size();
    std::memcpy(place, &segment, sizeof(segment));
    ++changed;
  }
  ASSERT_EQ(changed, 1);
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_EQ(CheckLibraryFile(file).message(), "");
  unlink(file.c_str());
}

TEST(LibraryFileTest, LeavesRefusalOfOtherFilesToTheLoader) {
  const std::string file = ::testing::TempDir() + "no_elf_header.so";
  std::ofstream(file) << "not a library";
  EXPECT_TRUE(CheckLibraryFile(file).ok());
  unlink(file.c_str());
  EXPECT_TRUE(CheckLibraryFile("/nowhere/nothing.so").ok());
}

}  // namespace
}  // namespace gauntlet
