#include "harness/results/formats/pickle.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "harness/results/formats/pickle_stack.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxValues = size_t{2} << 20;

enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kEmptyDict = '}',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kList = 'l',
  kEmptyList = ']',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProto = 0x80,
  kNewObj = 0x81,
  kExt1 = 0x82,
  kExt2 = 0x83,
  kExt4 = 0x84,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kNewObjEx = 0x92,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
};

class PickleMachine {
 public:
  explicit PickleMachine(std::string_view bytes) : stack_(bytes) {}

  Result<Pickle> Run() {
    while (!stopped_) {
      const size_t begin = stack_.offset();
      const std::optional<uint64_t> opcode = stack_.TakeNumber(1);
      if (!opcode) return DataLoss("pickle: no end");
      if (!Execute(static_cast<uint8_t>(*opcode))) {
        return DataLoss(fmt::format("pickle: opcode 0x{:02x} at {}: {}",
                                    *opcode, begin, stack_.error()));
      }
      if (stack_.values() > kMaxValues)
        return DataLoss("pickle: more values than are read");
    }
    return stack_.Take();
  }

 private:
  bool Execute(uint8_t opcode);
  bool ExecuteValue(uint8_t opcode);
  bool ExecuteContainer(uint8_t opcode);

  PickleStack stack_;
  bool stopped_ = false;
};

bool PickleMachine::Execute(uint8_t opcode) {
  switch (opcode) {
    case kProto:
      return stack_.TakeNumber(1).has_value() || stack_.Fail("the bytes end");
    case kFrame:
      return stack_.TakeNumber(8).has_value() || stack_.Fail("the bytes end");
    case kStop:
      stopped_ = true;
      return stack_.Finish();
    case kMark:
      return stack_.Mark();
    case kPop:
      return stack_.Drop();
    case kPopMark:
      return stack_.PopToMark().has_value() || stack_.Fail("no mark");
    case kDup:
      return stack_.Duplicate();
    case kBinPut:
      return stack_.Put(stack_.TakeNumber(1));
    case kLongBinPut:
      return stack_.Put(stack_.TakeNumber(4));
    case kMemoize:
      return stack_.Memoize();
    case kBinGet:
      return stack_.Get(stack_.TakeNumber(1));
    case kLongBinGet:
      return stack_.Get(stack_.TakeNumber(4));
    default:
      return ExecuteValue(opcode);
  }
}

bool PickleMachine::ExecuteValue(uint8_t opcode) {
  switch (opcode) {
    case kNone:
      return stack_.Push({.kind = PickleKind::kNone, .text = {}, .items = {}});
    case kNewTrue:
      return stack_.PushBool(true);
    case kNewFalse:
      return stack_.PushBool(false);
    case kBinInt1:
      return stack_.PushUnsigned(1);
    case kBinInt2:
      return stack_.PushUnsigned(2);
    case kBinInt: {
      const auto value = stack_.TakeNumber(4);
      if (!value) return stack_.Fail("the bytes end");
      return stack_.PushInteger(static_cast<int32_t>(*value));
    }
    case kLong1:
      return stack_.PushLong(stack_.TakeCounted(1));
    case kLong4:
      return stack_.PushLong(stack_.TakeCounted(4));
    case kBinFloat:
      return stack_.PushFloat();
    case kBinUnicode:
    case kBinString:
      return stack_.PushText(PickleKind::kText, stack_.TakeCounted(4));
    case kShortBinUnicode:
    case kShortBinString:
      return stack_.PushText(PickleKind::kText, stack_.TakeCounted(1));
    case kBinUnicode8:
      return stack_.PushText(PickleKind::kText, stack_.TakeCounted(8));
    case kBinBytes:
      return stack_.PushText(PickleKind::kBytes, stack_.TakeCounted(4));
    case kShortBinBytes:
      return stack_.PushText(PickleKind::kBytes, stack_.TakeCounted(1));
    case kBinBytes8:
    case kByteArray8:
      return stack_.PushText(PickleKind::kBytes, stack_.TakeCounted(8));
    case kGlobal: {
      const auto module = stack_.TakeLine();
      return stack_.PushGlobal(module, stack_.TakeLine());
    }
    case kStackGlobal:
      return stack_.PushStackGlobal();
    case kExt1:
    case kExt2:
    case kExt4: {
      const auto code = stack_.TakeNumber(size_t{1} << (opcode - kExt1));
      if (!code) return stack_.Fail("the bytes end");
      return stack_.PushText(PickleKind::kGlobal,
                             fmt::format("extension {}", *code));
    }
    default:
      return ExecuteContainer(opcode);
  }
}

bool PickleMachine::ExecuteContainer(uint8_t opcode) {
  switch (opcode) {
    case kEmptyList:
      return stack_.PushItems(PickleKind::kList, 0);
    case kEmptyTuple:
      return stack_.PushItems(PickleKind::kTuple, 0);
    case kEmptyDict:
      return stack_.PushItems(PickleKind::kDict, 0);
    case kEmptySet:
      return stack_.PushItems(PickleKind::kSet, 0);
    case kTuple1:
    case kTuple2:
    case kTuple3:
      return stack_.PushItems(PickleKind::kTuple, size_t{1} + opcode - kTuple1);
    case kList:
      return stack_.PushToMark(PickleKind::kList);
    case kTuple:
      return stack_.PushToMark(PickleKind::kTuple);
    case kDict:
      return stack_.PushToMark(PickleKind::kDict);
    case kFrozenSet:
      return stack_.PushToMark(PickleKind::kSet);
    case kAppend:
      return stack_.Extend(PickleKind::kList, stack_.PopItems(1));
    case kAppends:
      return stack_.Extend(PickleKind::kList, stack_.PopToMark());
    case kAddItems:
      return stack_.Extend(PickleKind::kSet, stack_.PopToMark());
    case kSetItem:
      return stack_.Extend(PickleKind::kDict, stack_.PopItems(2));
    case kSetItems:
      return stack_.Extend(PickleKind::kDict, stack_.PopToMark());
    case kBinPersId:
      return stack_.PushItems(PickleKind::kPersistent, 1);
    case kReduce:
    case kNewObj:
      return stack_.Call();
    case kNewObjEx:
      return stack_.CallWithKeywords();
    case kBuild:
      return stack_.Build();
    default:
      return stack_.Fail("not of protocols 2 to 5");
  }
}

}  // namespace

Result<Pickle> ParsePickle(std::string_view bytes) {
  return PickleMachine(bytes).Run();
}

}  // namespace gauntlet
