#include "engine/data/npy.h"

#include <bit>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/data/npy_array.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/world/memory_storage.h"

namespace gauntlet {
namespace {

std::string Floats(std::initializer_list<float> values) {
  std::string bytes;
  for (const float value : values) {
    bytes += LittleEndian(std::bit_cast<uint32_t>(value), 4);
  }
  return bytes;
}

// Returns files with two samples of 1 x 3 values.
MemoryStorage GoodFiles() {
  return ReadOnlyFiles(
      {{"d/x_train.npy", Npy("|u1", "(2, 1, 3)", "abcdef")},
       {"d/y_train.npy",
        Npy("<i8", "(2,)", LittleEndian(3, 8) + LittleEndian(9, 8))}});
}

Result<RawSamples> Read(MemoryStorage& files) {
  return ReadNpy(files, {.directory = "d"}, DataPart::kTrain);
}

TEST(NpyTest, ReadsBytesAndLabels) {
  MemoryStorage files = GoodFiles();
  const Result<RawSamples> raw = Read(files);
  ASSERT_TRUE(raw.ok()) << raw.status().ToString();
  EXPECT_EQ(raw->samples, 2u);
  EXPECT_EQ(raw->height, 1u);
  EXPECT_EQ(raw->width, 3u);
  EXPECT_EQ(raw->channels, 1u);
  EXPECT_EQ(raw->pixels, (std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_EQ(raw->labels, (std::vector<uint8_t>{3, 9}));
}

TEST(NpyTest, ReadsFloatsAsTheyStandAndChannels) {
  MemoryStorage files = GoodFiles();
  files.SetBytes("d/x_train.npy", Npy("<f4", "(2, 1, 1, 2)",
                                      Floats({-1.5f, 0.0f, 3.25f, 1e30f})));
  files.SetBytes("d/y_train.npy",
                 Npy("<i4", "(2, 1)", LittleEndian(0, 4) + LittleEndian(1, 4)));
  const Result<RawSamples> raw = Read(files);
  ASSERT_TRUE(raw.ok()) << raw.status().ToString();
  EXPECT_EQ(raw->channels, 2u);
  EXPECT_EQ(raw->values, (std::vector<float>{-1.5f, 0.0f, 3.25f, 1e30f}));
  EXPECT_EQ(raw->labels, (std::vector<uint8_t>{0, 1}));
}

TEST(NpyTest, ReadsVersionTwoAndAnyLayoutOfTheHeader) {
  const std::string header =
      R"(  { "shape" : ( 2 , 3 ) , 'fortran_order':False,"descr":"|u1"}   )";
  MemoryStorage files = GoodFiles();
  files.SetBytes("d/x_train.npy", std::string("\x93NUMPY\x02\x00", 8) +
                                      LittleEndian(header.size(), 4) + header +
                                      "abcdef");
  const Result<RawSamples> raw = Read(files);
  ASSERT_TRUE(raw.ok()) << raw.status().ToString();
  EXPECT_EQ(raw->width, 3u);
  EXPECT_EQ(raw->pixels[5], 'f');
}

struct BadFile {
  std::string bytes;
  std::string message;  // text after "<path>: "
};

std::string FortranHeader() {
  return "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }";
}

TEST(NpyTest, MalformedFeaturesAreRefusedWithTheirOffset) {
  const std::string keys =
      "expected one of the keys 'descr' 'fortran_order' 'shape', each once, "
      "found ";
  const std::string types =
      "expected a type, one of '|u1' '<i4' '<i8' '<f4', found ";
  const std::string shapes =
      "expected a shape (samples, features), (samples, height, width) or "
      "(samples, height, width, channels) of 1 to 10000000 samples and at most "
      "16777216 features, found ";
  const BadFile bad_files[] = {
      {"", "offset 0: expected the magic '\\x93NUMPY', found the end"},
      {"PK\x03\x04 zip",
       "offset 0: expected the magic '\\x93NUMPY', found "
       "'PK\\x03\\x04 zip'"},
      {std::string("\x93NUMPY\x01", 7),
       "offset 6: expected the version, two bytes, found '\\x01'"},
      {std::string("\x93NUMPY\x03\x00\x00\x00\x00\x00", 12),
       "offset 6: expected version 1.0 or 2.0, found 3.0"},
      {std::string("\x93NUMPY\x01\x00\xff\xff{}", 12),
       "offset 8: expected a header of at most 2 bytes, found 65535"},
      {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14),
       "offset 8: expected a header of at most 2 bytes, found 4294967295"},
      {NpyOf("[1]", ""), "offset 10: expected a Python dict, found '[1]'"},
      {NpyOf("{'descr': '>f4'}", ""), "offset 20: " + types + "'>f4'"},
      {NpyOf("{'descr': [('a', '<f4')]}", ""),
       "offset 20: " + types + "'[(\\x27a\\x27, \\x27<f4\\x27)]}'"},
      {NpyOf("{'descr': '<f8'}", ""), "offset 20: " + types + "'<f8'"},
      {NpyOf("{'what': 1}", ""), "offset 11: " + keys + "'what'"},
      {NpyOf("{'descr': '|u1', 'descr': '|u1'}", ""),
       "offset 27: " + keys + "'descr'"},
      {NpyOf(FortranHeader(), "abcdef"),
       "offset 44: expected an array in C order (numpy.ascontiguousarray makes "
       "one), found one in Fortran order"},
      {NpyOf("{'shape': (2, -3)}", ""),
       "offset 24: expected at most 8 sizes and then ), found '-3)}'"},
      {NpyOf("{'shape': (1,1,1,1,1,1,1,1,1)}", ""),
       "offset 37: expected at most 8 sizes and then ), found '1)}'"},
      {NpyOf("{'shape': (99999999999999999999,)}", ""),
       "offset 21: expected at most 8 sizes and then ), found "
       "'99999999999999999999,)}'"},
      {NpyOf("{'descr': '|u1'}", ""),
       "offset 26: expected 'descr', 'fortran_order' and 'shape' in the header,"
       " found fewer keys"},
      {NpyOf("{} x", ""),
       "offset 13: expected nothing but spaces after the header, found 'x'"},
      {Npy("|u1", "(2, 3)", "abcde"),
       "offset 70: expected 6 bytes of data (|u1 of shape (2, 3)), found 5"},
      {Npy("|u1", "(2, 3)", "abcdefg"),
       "offset 70: expected 6 bytes of data (|u1 of shape (2, 3)), found 7"},
      {Npy("<f4", "(4611686018427387904, 4)", ""),
       "offset 88: expected more than 2^64 bytes of data (<f4 of shape "
       "(4611686018427387904, 4)), found 0"},
      {Npy("|u1", "(0, 3)", ""), "offset 60: " + shapes + "(0, 3)"},
      {Npy("|u1", "(6,)", "abcdef"), "offset 60: " + shapes + "(6)"},
      {Npy("|u1", "()", "a"), "offset 60: " + shapes + "()"},
      {Npy("<i4", "(2, 3)", std::string(24, '\0')),
       "offset 20: expected features of type |u1 or <f4, found <i4"},
      {Npy("<f4", "(2, 1)",
           Floats({1.0f, std::numeric_limits<float>::infinity()})),
       "offset 74: expected a finite number, found inf"},
  };
  for (const BadFile& bad : bad_files) {
    MemoryStorage files = GoodFiles();
    files.SetBytes("d/x_train.npy", bad.bytes);
    const Status status = Read(files).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_EQ(status.message(), "d/x_train.npy: " + bad.message);
  }
}

TEST(NpyTest, MalformedLabelsAreRefusedWithTheirOffset) {
  const std::string shape =
      "expected a shape (2) or (2, 1), a label for each sample of features, "
      "found ";
  const BadFile bad_files[] = {
      {Npy("|u1", "(3,)", "abc"), "offset 60: " + shape + "(3)"},
      {Npy("|u1", "(2, 2)", "abcd"), "offset 60: " + shape + "(2, 2)"},
      {Npy("<f4", "(2,)", Floats({1, 2})),
       "offset 20: expected labels of type |u1, <i4 or <i8, found <f4"},
      {Npy("|u1", "(2,)", std::string("\x09\x0a", 2)),
       "offset 69: expected a label from 0 to 9, found 10"},
      {Npy("<i4", "(2,)", LittleEndian(0, 4) + LittleEndian(0xffffffff, 4)),
       "offset 72: expected a label from 0 to 9, found -1"},
      {Npy("<i8", "(2,)", LittleEndian(0, 8) + LittleEndian(256, 8)),
       "offset 76: expected a label from 0 to 9, found 256"},
  };
  for (const BadFile& bad : bad_files) {
    MemoryStorage files = GoodFiles();
    files.SetBytes("d/y_train.npy", bad.bytes);
    EXPECT_EQ(Read(files).status().message(), "d/y_train.npy: " + bad.message);
  }
}

TEST(NpyTest, LabelsAreBelowTheGivenNumberOfClasses) {
  MemoryStorage files = GoodFiles();
  const auto read = [&](uint32_t classes) {
    return ReadNpy(files, {.directory = "d", .classes = classes},
                   DataPart::kTrain)
        .ok();
  };
  EXPECT_TRUE(read(10));
  EXPECT_FALSE(read(9));
}

TEST(NpyTest, MissingFileIsNamed) {
  MemoryStorage files = GoodFiles();
  const Status status =
      ReadNpy(files, {.directory = "d"}, DataPart::kValidation).status();
  EXPECT_EQ(status.ToString(),
            "INVALID_ARGUMENT: d/x_test.npy: expected a .npy file, found none");
}

TEST(NpyTest, ErrorOfTheDiskIsNotAMalformedFile) {
  MemoryStorage files = GoodFiles();
  files.gate = [](StorageCall call, const std::string& path) {
    return path == "d/y_train.npy" ? IoError(path) : AllowReading(call, path);
  };
  EXPECT_EQ(Read(files).status().code(), Code::kIoError);
}

TEST(NpyTest, NoPrefixOfAFileIsRead) {
  const std::string good = GoodFiles().Bytes("d/x_train.npy");
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(ParseNpy("f", good.substr(0, length)).ok()) << length;
  }
}

RC_GTEST_PROP(NpyTest, ChangedByteNeverCrashes,
              (uint16_t where, uint8_t byte)) {
  MemoryStorage files = GoodFiles();
  std::string& file =
      files.Bytes(where % 2 == 0 ? "d/x_train.npy" : "d/y_train.npy");
  file[where / 2 % file.size()] = static_cast<char>(byte);
  const Result<RawSamples> raw = Read(files);
  RC_ASSERT(raw.ok() || raw.status().code() == Code::kInvalidArgument);
}

}  // namespace
}  // namespace gauntlet
