#include "harness/explore/crash_image_id.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

template <typename T>
bool ParseWhole(std::string_view text, T& out) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::string_view CrashWindowName(CrashWindow window) {
  switch (window) {
    case CrashWindow::kSave:
      return "save";
    case CrashWindow::kRecovery:
      return "recovery";
    case CrashWindow::kRot:
      return "rot";
  }
  return "";
}

std::string IdOf(const ImageId& id) {
  return fmt::format(
      "{}-{}-{}-{}-{}", ProfileName(id.profile), CrashWindowName(id.window),
      id.operation, id.names,
      id.files.empty() ? "x" : fmt::format("{}", fmt::join(id.files, ".")));
}

std::optional<ImageId> ParseId(std::string_view text) {
  ImageId id;
  for (const std::string_view name : kProfileNames) {
    if (text.starts_with(std::string(name) + "-")) {
      id.profile = *FindProfile(name);
      text.remove_prefix(name.size() + 1);
      break;
    }
  }
  const auto parts = Split(text, '-');
  if (parts.size() != 4 || !ParseWhole(parts[1], id.operation) ||
      !ParseWhole(parts[2], id.names)) {
    return std::nullopt;
  }
  bool known = false;
  for (const CrashWindow window :
       {CrashWindow::kSave, CrashWindow::kRecovery, CrashWindow::kRot}) {
    if (CrashWindowName(window) != parts[0]) continue;
    id.window = window;
    known = true;
  }
  if (!known) return std::nullopt;
  if (parts[3] == "x") return id;
  for (const std::string_view part : Split(parts[3], '.')) {
    if (!ParseWhole(part, id.files.emplace_back())) return std::nullopt;
  }
  return id;
}

}  // namespace gauntlet
