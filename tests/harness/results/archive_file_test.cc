// Zip archives: npz, Keras, and others.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/data/data_files.h"
#include "tests/harness/results/result_files.h"
#include "tests/harness/results/two_results.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ArchiveFile, ReadsArraysOfNpz) {
  for (const bool is_deflated : {false, true}) {
    const auto file = [&](const char* data, uint32_t time) {
      return Zip({{.name = "weights.npy",
                   .bytes = Npy("|u1", "(2, 2)", data),
                   .is_deflated = is_deflated}},
                 time);
    };
    EXPECT_EQ(OpenedFile("a.npz", file("abcd", 1)).file.format,
              FileFormat::kNpz);
    EXPECT_THAT(DifferencesOf("a.npz", file("abcd", 1), file("abcd", 2)),
                IsEmpty());
    EXPECT_THAT(DifferencesOf("a.npz", file("abxd", 1), file("abcd", 2)),
                ElementsAre("a.npz: tensor `weights`, element [1,0]: 120 "
                            "(0x78) instead of 99 (0x63); 1 of 4 elements "
                            "differ"));
  }
}

TEST(ArchiveFile, IsEqual_WhetherStoredOrDeflated) {
  const auto file = [](bool is_deflated) {
    return Zip({{.name = "a.npy",
                 .bytes = Npy("|u1", "(9,)", "aaaaaaaaa"),
                 .is_deflated = is_deflated}});
  };
  EXPECT_THAT(DifferencesOf("a.npz", file(true), file(false)), IsEmpty());
}

TEST(ArchiveFile, LeavesOutDateAndAddressesOfKeras) {
  const auto file = [](const char* date, int address, int units) {
    return Zip(
        {{.name = "metadata.json",
          .bytes = std::string(R"({"keras_version":"3","date_saved":")") +
                   date + "\"}"},
         {.name = "config.json",
          .bytes = R"({"layers":[{"units":)" + std::to_string(units) +
                   R"(,"dtype":{"shared_object_id":)" +
                   std::to_string(address) + "}}]}"}});
  };
  EXPECT_EQ(OpenedFile("a.keras", file("1", 1, 1)).file.format,
            FileFormat::kKeras);
  EXPECT_THAT(DifferencesOf("a.keras", file("1", 1, 8), file("2", 2, 8)),
              IsEmpty());
  EXPECT_THAT(DifferencesOf("a.keras", file("1", 1, 4), file("1", 1, 8)),
              ElementsAre("a.keras: tensor `config.json.layers[0].units`: 4 "
                          "(0x0000000000000004) instead of 8 "
                          "(0x0000000000000008)"));
}

TEST(ArchiveFile, ReadsAllValuesOfJson) {
  const OpenedFile opened(
      "a.keras", Zip({{.name = "metadata.json", .bytes = "[]"},
                      {.name = "config.json",
                       .bytes = R"({"t":"x","f":0.5,"b":true,"n":null,"o":{},)"
                                R"("i":-3,"u":18446744073709551615})"}}));
  EXPECT_EQ(opened.TypeOf("metadata.json"), "empty list []");
  EXPECT_EQ(opened.BytesOf("config.json.t"), "x");
  EXPECT_EQ(opened.TypeOf("config.json.f"), "float64 []");
  EXPECT_EQ(opened.TypeOf("config.json.b"), "bool []");
  EXPECT_EQ(opened.TypeOf("config.json.n"), "none []");
  EXPECT_EQ(opened.TypeOf("config.json.o"), "empty dict []");
  EXPECT_EQ(opened.TypeOf("config.json.i"), "int64 []");
  EXPECT_EQ(opened.BytesOf("config.json.u"), "18446744073709551615");
}

TEST(ArchiveFile, ComparesEntryAsBytes_IfItsFormatIsInvalid) {
  const std::string deep(300, '[');
  for (const std::string& json : {std::string("{"), deep}) {
    const OpenedFile opened("a.zip", Zip({{.name = "a.json", .bytes = json}}));
    EXPECT_EQ(opened.file.format, FileFormat::kZip);
    EXPECT_EQ(opened.BytesOf("a.json"), json);
    EXPECT_THAT(opened.file.note,
                HasSubstr("entry a.json is compared as bytes: "));
  }
}

TEST(ArchiveFile, IsComparedAsBytes_IfDeflatedBytesAreDamaged) {
  std::string damaged =
      Zip({{.name = "a.npy",
            .bytes = Npy("|u1", "(64,)", std::string(64, 'x')),
            .is_deflated = true}});
  const std::string sound = damaged;
  // Damages a byte of the deflated array, after the bytes of the header.
  damaged[damaged.find("PK\x01\x02") - 4] ^= 1;
  TwoResults results;
  results.Found("a.npz", damaged);
  results.Expected("a.npz", sound);
  EXPECT_FALSE(results.Differences().empty());
  results.Found("a.npz", damaged);
  results.Expected("a.npz", damaged);
  EXPECT_THAT(results.Differences(), IsEmpty());
  EXPECT_THAT(results.comparison().notes,
              Contains(HasSubstr("compared as bytes")));
}

TEST(ArchiveFile, IsComparedAsBytes_IfChecksumIsWrong) {
  std::string file = Zip({{.name = "a.npy",
                           .bytes = Npy("|u1", "(9,)", "aaaaaaaaa"),
                           .is_deflated = true}});
  file[file.find("PK\x01\x02") + 16] ^= 1;
  TwoResults results;
  results.Found("a.npz", file);
  results.Expected("a.npz", file);
  EXPECT_THAT(results.Differences(), IsEmpty());
  EXPECT_THAT(results.comparison().notes,
              ElementsAre("a.npz: compared as bytes: entry a.npy is damaged"));
}

TEST(ArchiveFile, RefusesEntriesThatClaimMoreThanTheyHold) {
  std::string file = Zip({{.name = "a.npy", .bytes = "x"}});
  const size_t directory = file.find("PK\x01\x02");
  // Sets the compressed and the uncompressed size in the directory to 2 GiB.
  file.replace(directory + 20, 8,
               LittleEndian(0x7fffffff, 4) + LittleEndian(0x7fffffff, 4));
  const OpenedFile opened("a.npz", file);
  EXPECT_EQ(opened.file.format, FileFormat::kBytes);
  EXPECT_THAT(opened.file.note, HasSubstr("compared as bytes: "));
}

TEST(ArchiveFile, RefusesEntriesThatShareTheirBytes) {
  std::string file = Zip({{.name = "a", .bytes = std::string(1000, 'x')}});
  const size_t begin = file.find("PK\x01\x02");
  const size_t end = file.find("PK\x05\x06");
  const std::string one = file.substr(begin, end - begin);
  std::string many = file.substr(0, begin);
  for (int i = 0; i < 50; ++i) many += one;
  many += std::string("PK\x05\x06") + LittleEndian(0, 4) + LittleEndian(50, 2) +
          LittleEndian(50, 2) + LittleEndian(50 * one.size(), 4) +
          LittleEndian(begin, 4) + LittleEndian(0, 2);
  EXPECT_THAT(OpenedFile("a.zip", many).file.note,
              HasSubstr("bytes cannot be in a file of"));
}

}  // namespace
}  // namespace gauntlet
