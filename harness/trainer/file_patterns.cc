#include "harness/trainer/file_patterns.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "harness/trainer/text/name_pattern.h"

namespace gauntlet {

FilePatterns::FilePatterns(const OperationLog& log) : log_(log) {
  std::map<FileName, uint64_t> appearances;
  for (const FileOperation& operation : log.operations()) {
    switch (operation.kind) {
      case OperationKind::kCreate:
      case OperationKind::kSymlink:
      case OperationKind::kMakeDirectory:
      case OperationKind::kEnter:
        ++appearances[operation.name];
        break;
      case OperationKind::kLink:
        ++appearances[operation.to];
        break;
      case OperationKind::kRename:
        ++appearances[operation.to];
        temporary_.insert(operation.name);
        break;
      case OperationKind::kUnlink:
      case OperationKind::kRemoveDirectory:
      case OperationKind::kLeave:
        temporary_.insert(operation.name);
        break;
      default:
        break;
    }
  }
  // Drops names that appear several times: they are not those of temporary
  // files.
  std::erase_if(temporary_, [&](const FileName& name) {
    const auto found = appearances.find(name);
    return found != appearances.end() && found->second > 1;
  });
}

std::string FilePatterns::Of(const FileName& name) const {
  const std::string_view path = name.path;
  std::string pattern;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    const bool is_temporary =
        temporary_.contains({.directory = name.directory,
                             .path = std::string(path.substr(0, end))});
    pattern += is_temporary ? TemporaryNamePattern(part) : NamePattern(part);
    if (end < path.size()) pattern += '/';
    begin = end + 1;
  }
  return pattern;
}

OperationPattern FilePatterns::OfOperation(uint64_t number) const {
  const FileOperation& operation = log_.operations()[number - 1];
  OperationPattern pattern{
      .path = Of(operation.name), .kind = operation.kind, .occurrence = 0};
  if (operation.rank != kUnknownRank) pattern.rank = operation.rank;
  for (uint64_t i = 0; i < number; ++i) {
    const FileOperation& other = log_.operations()[i];
    if (!other.implied && Matches(pattern, other)) ++pattern.occurrence;
  }
  return pattern;
}

}  // namespace gauntlet
