#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/results/hdf5_writer.h"
#include "tests/harness/results/result_files.h"
#include "tests/harness/results/two_results.h"
#include <hdf5.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Hdf5File, ReadsDataSetsAndAttributes) {
  const OpenedFile opened("a.h5", Hdf5([](hid_t file) {
                            const hid_t group =
                                H5Gcreate2(file, "layers", H5P_DEFAULT,
                                           H5P_DEFAULT, H5P_DEFAULT);
                            WriteFloats(group, "kernel", {2, 2}, {1, 2, 3, 4});
                            WriteTextAttribute(group, "name", "dense");
                            H5Gclose(group);
                          }));
  EXPECT_EQ(opened.file.format, FileFormat::kHdf5) << opened.file.note;
  EXPECT_EQ(opened.TypeOf("layers/kernel"), "float32 [2,2]");
  EXPECT_EQ(opened.BytesOf("layers/kernel"), BytesOf<float>({1, 2, 3, 4}));
  EXPECT_EQ(opened.BytesOf("layers@name"), "dense");
}

TEST(Hdf5File, NamesDifferentElement_ChunkedOrNot) {
  for (const bool is_chunked : {false, true}) {
    const auto file = [&](float last) {
      std::vector<float> values(600, 0.5);
      values.back() = last;
      return Hdf5([&](hid_t id) {
        if (is_chunked)
          WriteChunkedFloats(id, "w", {20, 30}, values);
        else
          WriteFloats(id, "w", {20, 30}, values);
      });
    };
    EXPECT_THAT(DifferencesOf("a.h5", file(0.5), file(0.5)), IsEmpty());
    EXPECT_THAT(DifferencesOf("a.h5", file(0.25), file(0.5)),
                ElementsAre("a.h5: tensor `w`, element [19,29]: 0.25 "
                            "(0x3e800000) instead of 0.5 (0x3f000000); 1 of "
                            "600 elements differ, by 8388608 ulp"));
  }
}

// A row of the array has 1.2 MB. A slab, which is read at once, has at most 1
// MiB, so slabs end within a row.
TEST(Hdf5File, ReadsLargeChunkedArrays) {
  constexpr size_t kRow = 300000;
  std::vector<float> values(3 * kRow);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i % 1000);
  const auto file = [&] {
    return Hdf5([&](hid_t id) {
      WriteChunkedFloats(id, "w", {3, kRow}, values);
    });
  };
  const std::string sound = file();
  values[kRow + 7] += 0.5;
  EXPECT_THAT(
      DifferencesOf("a.h5", file(), sound),
      ElementsAre(HasSubstr("element [1,7]: 7.5 (0x40f00000) instead of 7")));
}

TEST(Hdf5File, ReadsWeightsInKerasArchive) {
  const auto file = [](float value) {
    return Zip({{.name = "metadata.json", .bytes = "{}"},
                {.name = "config.json", .bytes = "{}"},
                {.name = "model.weights.h5", .bytes = Hdf5([&](hid_t id) {
                                               WriteFloats(id, "w", {1},
                                                           {value});
                                             })}});
  };
  EXPECT_THAT(DifferencesOf("a.keras", file(2), file(1)),
              ElementsAre("a.keras: tensor `model.weights.h5/w`, element [0]: "
                          "2 (0x40000000) instead of 1 (0x3f800000); 1 of 1 "
                          "elements differ, by 8388608 ulp"));
}

TEST(Hdf5File, FollowsNoLinks) {
  const OpenedFile opened("a.h5", Hdf5([](hid_t file) {
                            H5Lcreate_external("/etc/passwd", "/x", file, "out",
                                               H5P_DEFAULT, H5P_DEFAULT);
                            H5Lcreate_soft("/nowhere", file, "soft",
                                           H5P_DEFAULT, H5P_DEFAULT);
                          }));
  EXPECT_EQ(opened.file.format, FileFormat::kHdf5) << opened.file.note;
  EXPECT_EQ(opened.file.tensors.size(), 2u);
  EXPECT_THAT(opened.BytesOf("out (link)"), HasSubstr("/etc/passwd"));
  EXPECT_THAT(opened.BytesOf("soft (link)"), HasSubstr("/nowhere"));
}

TEST(Hdf5File, IsComparedAsBytes_IfDataAreInOtherFiles) {
  const OpenedFile opened("a.h5", Hdf5([](hid_t file) {
                            const hid_t creation =
                                H5Pcreate(H5P_DATASET_CREATE);
                            H5Pset_external(creation, "/etc/passwd", 0, 4);
                            WriteFloats(file, "w", {1}, {}, creation);
                            H5Pclose(creation);
                          }));
  EXPECT_EQ(opened.file.note,
            "compared as bytes: w: its bytes are in other files");
}

TEST(Hdf5File, IsComparedAsBytes_IfTruncated) {
  const std::string sound = Hdf5([](hid_t file) {
    WriteFloats(file, "w", {2}, {1, 2});
  });
  const OpenedFile opened("a.h5", sound.substr(0, sound.size() / 2));
  EXPECT_THAT(opened.file.note, HasSubstr("compared as bytes: "));
}

TEST(Hdf5File, LeavesNoTemporaryFiles) {
  const ScratchDirectory scratch;
  const char* const before = getenv("TMPDIR");
  const std::string old = before == nullptr ? "/tmp" : before;
  const std::string file =
      Zip({{.name = "a.h5",
            .bytes = Hdf5([](hid_t id) { WriteFloats(id, "w", {1}, {1}); })}});
  std::ofstream(scratch / "a.zip", std::ios::binary) << file;
  std::filesystem::create_directory(scratch / "tmp");
  setenv("TMPDIR", (scratch / "tmp").c_str(), 1);
  EXPECT_EQ(OpenResultFile(scratch.path(), "a.zip")->tensors.size(), 1u);
  setenv("TMPDIR", old.c_str(), 1);
  EXPECT_TRUE(std::filesystem::is_empty(scratch / "tmp"));
}

}  // namespace
}  // namespace gauntlet
