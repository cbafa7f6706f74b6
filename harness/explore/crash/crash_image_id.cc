#include "harness/explore/crash/crash_image_id.h"

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
  const auto* const info =
      std::ranges::find(kCrashWindows, window, &CrashWindowInfo::window);
  return info == kCrashWindows.end() ? "" : info->name;
}

std::vector<CrashWindow> AllCrashWindows() {
  std::vector<CrashWindow> windows;
  for (const CrashWindowInfo& info : kCrashWindows) {
    windows.push_back(info.window);
  }
  return windows;
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
  const auto* const info =
      std::ranges::find(kCrashWindows, parts[0], &CrashWindowInfo::name);
  if (info == kCrashWindows.end()) return std::nullopt;
  id.window = info->window;
  if (parts[3] == "x") return id;
  for (const std::string_view part : Split(parts[3], '.')) {
    if (!ParseWhole(part, id.files.emplace_back())) return std::nullopt;
  }
  return id;
}

}  // namespace gauntlet
