#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/results/result_files.h"
#include "tests/harness/results/two_results.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<float> kSix = {0, 1, 2, 3, 4, 5};

TEST(TorchFile, NamesValuesByTheirPlaces) {
  using namespace pickle;
  const std::string tensor =
      PickledTensor({.elements = 6, .shape = {2, 3}, .strides = {3, 1}});
  const std::string model = Call(Global("collections", "OrderedDict"), ")") +
                            "(" + Text("fc.weight") + tensor + "u";
  const OpenedFile opened(
      "a.pt",
      TorchFile(
          Dict({Text("model"), model, Text("epoch"), Integer(3), Text("state"),
                Dict({Integer(0), Dict({Text("lr"), Float(0.5)})}),
                Text("name"), Text("run"), Text("none"), "N", Text("flag"),
                "\x88", Text("betas"), Tuple({Float(0.5), Float(0.25)}),
                Text("mixed"), List({Integer(1), Text("x")})}),
          {BytesOf(kSix)}));
  EXPECT_EQ(opened.file.format, FileFormat::kTorch) << opened.file.note;
  EXPECT_EQ(opened.TypeOf("model.fc.weight"), "float32 [2,3]");
  EXPECT_EQ(opened.BytesOf("model.fc.weight"), BytesOf(kSix));
  EXPECT_EQ(opened.BytesOf("epoch"), BytesOf(std::vector<int64_t>{3}));
  EXPECT_EQ(opened.BytesOf("state[0].lr"), BytesOf(std::vector<double>{0.5}));
  EXPECT_EQ(opened.BytesOf("name"), "run");
  EXPECT_EQ(opened.TypeOf("none"), "none []");
  EXPECT_EQ(opened.TypeOf("flag"), "bool []");
  EXPECT_EQ(opened.TypeOf("betas"), "float64 [2]");
  EXPECT_EQ(opened.BytesOf("mixed[1]"), "x");
}

TEST(TorchFile, HonoursStridesAndOffsets) {
  const struct {
    TorchTensor tensor;
    std::vector<float> read;
  } cases[] = {
      {{.elements = 6, .shape = {3, 2}, .strides = {1, 3}}, {0, 3, 1, 4, 2, 5}},
      {{.elements = 6, .offset = 3, .shape = {3}, .strides = {1}}, {3, 4, 5}},
      {{.elements = 6, .offset = 1, .shape = {3}, .strides = {2}}, {1, 3, 5}},
      {{.elements = 6, .offset = 2, .shape = {2, 2}, .strides = {0, 1}},
       {2, 3, 2, 3}},
      {{.elements = 6, .offset = 4, .shape = {}, .strides = {}}, {4}},
      {{.elements = 6, .shape = {0, 2}, .strides = {2, 1}}, {}}};
  for (const auto& one : cases) {
    const OpenedFile opened(
        "a.pt", TorchFile(PickledTensor(one.tensor), {BytesOf(kSix)}));
    EXPECT_EQ(opened.BytesOf(""), BytesOf(one.read)) << opened.file.note;
  }
}

TEST(TorchFile, IsEqual_IfLayoutsAndDirectoriesDiffer) {
  const std::string dense =
      PickledTensor({.elements = 4, .shape = {2, 2}, .strides = {2, 1}});
  const std::string transposed =
      PickledTensor({.elements = 4, .shape = {2, 2}, .strides = {1, 2}});
  EXPECT_THAT(
      DifferencesOf(
          "a.pt", TorchFile(dense, {BytesOf<float>({1, 2, 3, 4})}, "archive"),
          TorchFile(transposed, {BytesOf<float>({1, 3, 2, 4})}, "final")),
      IsEmpty());
}

TEST(TorchFile, NamesElementThatDiffers) {
  const TorchTensor tensor{.storage_class = "BFloat16Storage",
                           .elements = 2,
                           .shape = {2},
                           .strides = {1}};
  const auto file = [&](uint16_t last) {
    return TorchFile(pickle::Dict({pickle::Text("w"), PickledTensor(tensor)}),
                     {BytesOf<uint16_t>({0x3f80, last})});
  };
  EXPECT_THAT(DifferencesOf("a.pt", file(0x3f80), file(0x4000)),
              ElementsAre("a.pt: tensor `w`, element [1]: 1 (0x3f80) instead "
                          "of 2 (0x4000); 1 of 2 elements differ, by 128 ulp"));
}

TEST(TorchFile, NamesTextThatDiffers) {
  const auto file = [](const char* text) {
    return TorchFile(pickle::Dict({pickle::Text("note"), pickle::Text(text)}),
                     {});
  };
  EXPECT_THAT(
      DifferencesOf("a.pt", file("a long text before the word red"),
                    file("a long text before the word blue\n")),
      ElementsAre(
          "a.pt: tensor `note`: \"…ext before the word red\" instead of "
          "\"…ext before the word blue\\x0a\""));
}

TEST(TorchFile, ShowsWholeCharactersOfTexts) {
  const auto file = [](const char* last) {
    return TorchFile(pickle::Text(std::string("äöüäöüäöüäöüäöüx") + last), {});
  };
  EXPECT_THAT(DifferencesOf("a.pt", file("1"), file("2")),
              ElementsAre("a.pt: \"…äöüäöüäöüx1\" instead of "
                          "\"…äöüäöüäöüx2\""));
}

TEST(TorchFile, ReadsNumpyArrays) {
  using namespace pickle;
  const std::string type =
      Call(Global("numpy", "dtype"), Tuple({Text("u2"), "\x89", "\x88"})) +
      Tuple({Integer(3), Text("<"), "N", "N", "N", Integer(-1), Integer(-1),
             Integer(0)}) +
      "b";
  // Bytes 0x01 0x00 0xff 0x00, as Latin-1.
  const std::string bytes = Call(
      Global("_codecs", "encode"),
      Tuple({Text(std::string_view("\x01\0\xc3\xbf\0", 5)), Text("latin1")}));
  const std::string array =
      Call(Global("numpy._core.multiarray", "_reconstruct"),
           Tuple({Global("numpy", "ndarray"), Tuple({Integer(0)}), bytes})) +
      Tuple({Integer(1), Tuple({Integer(2)}), type, "\x89", bytes}) + "b";
  const OpenedFile opened("a.pt", TorchFile(Dict({Text("rng"), array}), {}));
  EXPECT_EQ(opened.TypeOf("rng"), "uint16 [2]");
  EXPECT_EQ(opened.BytesOf("rng"), BytesOf<uint16_t>({1, 0xff}));
}

TEST(TorchFile, TakesUnknownObjectsApart_AndExecutesNothing) {
  using namespace pickle;
  const std::string object =
      Call(Global("os", "system"), Tuple({Text("touch /tmp/executed")})) +
      Dict({Text("lr"), Float(0.5)}) + "b";
  const OpenedFile opened("a.pt", TorchFile(Dict({Text("o"), object}), {}));
  EXPECT_EQ(opened.file.format, FileFormat::kTorch);
  EXPECT_EQ(opened.BytesOf("o()"), "os system");
  EXPECT_EQ(opened.BytesOf("o(0)"), "touch /tmp/executed");
  EXPECT_EQ(opened.TypeOf("o.lr"), "float64 []");
}

TEST(TorchFile, IsEqual_IfSetsHaveAnotherOrder) {
  using namespace pickle;
  const auto file = [](const char* first, const char* second) {
    return TorchFile(Call(Global("__builtin__", "set"),
                          Tuple({List({Text(first), Text(second)})})),
                     {});
  };
  EXPECT_THAT(DifferencesOf("a.pt", file("a", "b"), file("b", "a")), IsEmpty());
  EXPECT_FALSE(DifferencesOf("a.pt", file("a", "b"), file("a", "c")).empty());
}

TEST(TorchFile, ComparesEntries_IfPickleIsUnreadable) {
  const struct {
    std::string value;
    std::string_view reason;
  } cases[] = {
      {"\xff", "opcode 0xff at 2: not of protocols 2 to 5"},
      {"", "opcode 0x2e at 2: the stack has other than one value"},
      {"h\x01", "no such memo"},
      {"X\xff\xff\xff\xff", "the bytes end"},
      {"](q\x01h\x01", "the stack is too short"},
      // A list that contains itself, once and twice.
      {"]q\x01h\x01"
       "a",
       "nested too deep or too often"},
      {"]q\x01(h\x01h\x01"
       "e",
       "nested too deep or too often"},
      {PickledTensor({.elements = 6, .shape = {7}, .strides = {1}}),
       "does not lie in a storage of 6 elements"},
      {PickledTensor({.elements = 6,
                      .shape = {0x7fffffff, 0x7fffffff, 0x7fffffff},
                      .strides = {0, 0, 0}}),
       "more than 2^63 bytes"},
      {PickledTensor(
           {.elements = 6, .shape = {0x7fffffff, 1000}, .strides = {0, 0}}),
       "more bytes than a file of its size can have"}};
  for (const auto& one : cases) {
    const OpenedFile opened("a.pt", TorchFile(one.value, {BytesOf(kSix)}));
    EXPECT_EQ(opened.file.format, FileFormat::kZip);
    EXPECT_THAT(opened.file.note, HasSubstr(one.reason));
    EXPECT_EQ(opened.BytesOf("archive/data/0"), BytesOf(kSix));
  }
}

// 2^30 paths lead to one text.
TEST(TorchFile, ComparesEntries_IfValuesNestTooDeeply) {
  std::string value = pickle::Text("x") + "q" + std::string(1, '\0');
  for (int i = 0; i < 30; ++i) {
    value += std::string("h") + static_cast<char>(i) + "h" +
             static_cast<char>(i) + "\x86q" + static_cast<char>(i + 1);
  }
  value = "(" + value + "t";
  EXPECT_THAT(OpenedFile("a.pt", TorchFile(value, {})).file.note,
              HasSubstr("entries are compared as bytes: "));
}

TEST(TorchFile, ComparesEntries_IfOneTextIsRepeatedTooOften) {
  const auto file = [](int times) {
    std::string value =
        "(N" + pickle::Text(std::string(1 << 20, 'x')) + "q" + '\x01';
    for (int i = 0; i < times; ++i) value += "h\x01";
    return TorchFile(value + "t", {});
  };
  EXPECT_EQ(OpenedFile("a.pt", file(10)).file.note, "");
  EXPECT_THAT(OpenedFile("a.pt", file(40)).file.note,
              HasSubstr("more values than a file of its size can have"));
}

TEST(TorchFile, ComparesEntries_IfStoragesAreCompressed) {
  const std::string value =
      PickledTensor({.elements = 6, .shape = {6}, .strides = {1}});
  const auto file = [&](bool deflates_storage, bool deflates_pickle) {
    return Zip({{.name = "a/data.pkl",
                 .bytes = pickle::Whole(value),
                 .is_deflated = deflates_pickle},
                {.name = "a/data/0",
                 .bytes = BytesOf(kSix),
                 .is_deflated = deflates_storage}});
  };
  EXPECT_EQ(OpenedFile("a.pt", file(false, true)).BytesOf(""), BytesOf(kSix));
  EXPECT_THAT(OpenedFile("a.pt", file(true, false)).file.note,
              HasSubstr("compressed storages"));
}

TEST(TorchFile, TakesFilesBefore1_6AsBytes) {
  const OpenedFile opened(
      "a.pt", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.");
  EXPECT_EQ(opened.file.note,
            "compared as bytes: torch.save's format before 1.6, which has "
            "addresses in it that differ between runs");
}

TEST(TorchFile, ComparesStoragesThatNothingRefersTo) {
  EXPECT_THAT(
      DifferencesOf("a.pt", TorchFile("N", {"a"}), TorchFile("N", {"b"})),
      ElementsAre("a.pt: tensor `data/0`: byte 1: 0x61 instead of "
                  "0x62; 1 of 1 bytes differ"));
}

}  // namespace
}  // namespace gauntlet
