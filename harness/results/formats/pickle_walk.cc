#include "harness/results/formats/pickle_walk.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/results/formats/numpy_object.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kMaxPickleDepth = 200;
constexpr size_t kMaxKeyParts = 1000;

// Protocol 2 has no opcode for sets: a set is a call with a list.
bool IsSet(std::string_view callee) {
  return callee == "__builtin__ set" || callee == "builtins set" ||
         callee == "__builtin__ frozenset" || callee == "builtins frozenset";
}

}  // namespace

Status PickleWalk::AddValue(const std::string& name, PickleId id) {
  if (visits_left_ == 0 || depth_ == kMaxPickleDepth)
    return DataLoss("pickle: nested too deep or too often");
  --visits_left_;
  ++depth_;
  const Status status = AddAnyValue(name, pickle_[id]);
  --depth_;
  return status;
}

Status PickleWalk::AddAnyValue(const std::string& name,
                               const PickleValue& value) {
  switch (value.kind) {
    case PickleKind::kNone:
      return list_.AddEmpty(name, "none");
    case PickleKind::kBool:
      return list_.AddBool(name, value.integer != 0);
    case PickleKind::kInteger:
      return list_.AddInteger(name, value.integer);
    case PickleKind::kFloat:
      return list_.AddFloat(name, value.number);
    case PickleKind::kBytes:
      return list_.AddHeld(name, ElementTypeOf("bytes"), {}, value.text);
    case PickleKind::kText:
    case PickleKind::kBigInteger:
    case PickleKind::kGlobal:
      return list_.AddText(name, value.text);
    case PickleKind::kList:
    case PickleKind::kTuple:
      return AddItems(name, value);
    case PickleKind::kSet:
      return AddSet(name, value);
    case PickleKind::kDict:
      return AddDict(name, value);
    case PickleKind::kPersistent:
    case PickleKind::kCall:
      break;
  }
  return AddObject(name, value);
}

Status PickleWalk::AddItems(const std::string& name, const PickleValue& value) {
  if (value.items.empty()) return list_.AddEmpty(name, "empty list");
  const PickleKind kind = pickle_[value.items.front()].kind;
  const bool is_array =
      (kind == PickleKind::kInteger || kind == PickleKind::kFloat) &&
      std::ranges::all_of(
          value.items, [&](PickleId id) { return pickle_[id].kind == kind; });
  if (is_array) return AddNumbers(name, value.items, kind);
  for (size_t i = 0; i < value.items.size(); ++i)
    RETURN_IF_ERROR(AddValue(NameOfItem(name, i), value.items[i]));
  return AddStates(name, value);
}

Status PickleWalk::AddNumbers(const std::string& name,
                              const std::vector<PickleId>& items,
                              PickleKind kind) {
  std::string bytes(items.size() * sizeof(int64_t), '\0');
  char* into = bytes.data();
  for (const PickleId id : items) {
    const PickleValue& value = pickle_[id];
    if (kind == PickleKind::kInteger)
      std::memcpy(into, &value.integer, sizeof value.integer);
    else
      std::memcpy(into, &value.number, sizeof value.number);
    into += sizeof(int64_t);
  }
  const char* const type = kind == PickleKind::kInteger ? "int64" : "float64";
  return list_.AddHeld(name, ElementTypeOf(type), {items.size()},
                       std::move(bytes));
}

Status PickleWalk::AddSet(const std::string& name, const PickleValue& value) {
  std::vector<PickleId> items = value.items;
  std::ranges::stable_sort(items, {}, [&](PickleId id) {
    const PickleValue& item = pickle_[id];
    return std::tuple(item.kind, item.integer, std::string_view(item.text));
  });
  if (items.empty()) return list_.AddEmpty(name, "empty list");
  for (size_t i = 0; i < items.size(); ++i)
    RETURN_IF_ERROR(AddValue(NameOfItem(name, i), items[i]));
  return OkStatus();
}

Status PickleWalk::AddDict(const std::string& name, const PickleValue& value) {
  if (value.items.empty() && value.states.empty())
    return list_.AddEmpty(name, "empty dict");
  for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
    RETURN_IF_ERROR(AddValue(NameOfPair(name, pickle_[value.items[i]]),
                             value.items[i + 1]));
  }
  return AddStates(name, value);
}

std::string PickleWalk::NameOfPair(const std::string& name,
                                   const PickleValue& key) const {
  if (key.kind == PickleKind::kInteger || key.kind == PickleKind::kBool)
    return fmt::format("{}[{}]", name, key.integer);
  if (key.kind == PickleKind::kFloat)
    return fmt::format("{}[{}]", name, key.number);
  if (key.kind != PickleKind::kTuple) return NameOfKey(name, key.text);
  std::string parts;
  for (const PickleId id : key.items) {
    const PickleValue& part = pickle_[id];
    if (!parts.empty()) parts += ",";
    parts += part.kind == PickleKind::kInteger ? std::to_string(part.integer)
                                               : part.text;
    if (parts.size() > kMaxKeyParts) break;
  }
  return NameOfKey(name, fmt::format("({})", parts));
}

Status PickleWalk::AddStates(const std::string& name,
                             const PickleValue& value) {
  for (const PickleId id : value.states) {
    const bool is_part = pickle_[id].kind == PickleKind::kDict ||
                         pickle_[id].kind == PickleKind::kList;
    if (is_part && pickle_[id].items.empty()) continue;
    RETURN_IF_ERROR(AddValue(is_part ? name : name + ".state", id));
  }
  return OkStatus();
}

Status PickleWalk::AddObject(const std::string& name,
                             const PickleValue& object) {
  ASSIGN_OR_RETURN(const bool is_array,
                   AddNumpyObject(name, pickle_, object, list_));
  if (is_array) return OkStatus();
  ASSIGN_OR_RETURN(const bool is_known, objects_.Add(name, object, *this));
  if (is_known) return OkStatus();
  if (object.kind == PickleKind::kPersistent)
    return AddValue(name + ".persistent", object.items[0]);
  const std::string& callee = pickle_[object.items[0]].text;
  const std::vector<PickleId>& arguments = pickle_[object.items[1]].items;
  if (IsSet(callee) && arguments.size() == 1)
    return AddSet(name, pickle_[arguments[0]]);
  RETURN_IF_ERROR(list_.AddText(name + "()", callee));
  for (size_t i = 0; i < arguments.size(); ++i)
    RETURN_IF_ERROR(AddValue(fmt::format("{}({})", name, i), arguments[i]));
  return AddStates(name, object);
}

}  // namespace gauntlet
