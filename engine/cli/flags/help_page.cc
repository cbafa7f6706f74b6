#include "engine/cli/flags/help_page.h"

#include <algorithm>

#include "engine/cli/flags/flags.h"
#include "engine/text/columns.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kMostNameColumns = 26;

// Appends the words of `text`, with line feeds instead of spaces where a line
// would get too long; lines after the first begin with `indent` spaces.
void AppendWrapped(std::string_view text, size_t indent, std::string& out) {
  size_t column = indent;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const size_t columns = ColumnsOf(word);
    if (column > indent && column + 1 + columns > kHelpWidth) {
      out += fmt::format("\n{:{}}", "", indent);
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += '\n';
}

// Returns the text with long lines wrapped; wrapped parts have the indentation
// of their line.
std::string WrapLines(std::string_view text) {
  std::string wrapped;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    wrapped += line.substr(0, indent);
    if (ColumnsOf(line) > kHelpWidth) {
      AppendWrapped(line.substr(indent), indent, wrapped);
    } else {
      wrapped += line.substr(indent);
      wrapped += '\n';
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrapped;
}

// Returns the group's name for --help=GROUP, such as "preemption-notices".
std::string GroupName(const HelpGroup& group) {
  std::string name = group.title;
  std::ranges::transform(name, name.begin(), [](char c) {
    return c == ' ' ? '-' : static_cast<char>(std::tolower(c));
  });
  return name;
}

std::string RenderGroup(const HelpGroup& group) {
  return fmt::format("\n{}:\n", group.title) + RenderHelpEntries(group.entries);
}

// Returns "--warmup" for "--warmup N".
std::string LongOption(const HelpEntry& entry) {
  const size_t begin = entry.name.find("--");
  if (begin == std::string::npos) return entry.name;
  const size_t end = std::min(entry.name.find(' ', begin), entry.name.size());
  return entry.name.substr(begin, end - begin);
}

std::string RenderOwnPages(const HelpPage& page) {
  std::vector<HelpEntry> entries;
  for (const HelpGroup& group : page.groups) {
    if (group.page != GroupPage::kOwn) continue;
    std::vector<std::string> options;
    for (const HelpEntry& entry : group.entries) {
      options.push_back(LongOption(entry));
    }
    entries.push_back({.name = GroupName(group),
                       .text = fmt::format("{}", fmt::join(options, ", "))});
  }
  if (entries.empty()) return "";
  return fmt::format(
             "\nMore options, by group (gauntlet help {0} GROUP; gauntlet help "
             "{0} all):\n",
             page.command) +
         RenderHelpEntries(entries);
}

std::string RenderHead(const HelpPage& page) {
  std::string text;
  AppendWrapped(page.summary, 0, text);
  return text +
         fmt::format("Usage: gauntlet {} {}\n", page.command, page.usage);
}

}  // namespace

std::string RenderHelpEntries(const std::vector<HelpEntry>& entries) {
  size_t width = 0;
  for (const HelpEntry& entry : entries) {
    const size_t columns = ColumnsOf(entry.name);
    if (columns <= kMostNameColumns) width = std::max(width, columns);
  }
  const size_t indent = 2 + width + 2;
  std::string text;
  for (const HelpEntry& entry : entries) {
    const size_t columns = ColumnsOf(entry.name);
    text += "  " + entry.name;
    if (columns > width) {
      text += fmt::format("\n{:{}}", "", indent);
    } else {
      text.append(indent - 2 - columns, ' ');
    }
    AppendWrapped(entry.text, indent, text);
  }
  return text;
}

std::string RenderHelpPage(const HelpPage& page) {
  std::string text = RenderHead(page);
  for (const HelpGroup& group : page.groups) {
    if (group.page == GroupPage::kFirst) text += RenderGroup(group);
  }
  text += RenderOwnPages(page);
  if (!page.examples.empty()) text += "\n" + WrapLines(page.examples);
  return text;
}

Result<std::string> RenderHelpGroup(const HelpPage& page,
                                    std::string_view name) {
  std::string text = RenderHead(page);
  std::vector<std::string> names = {"all"};
  bool found = false;
  for (const HelpGroup& group : page.groups) {
    names.push_back(GroupName(group));
    if (name != "all" && name != names.back()) continue;
    text += RenderGroup(group);
    found = true;
  }
  if (found) return text;
  return InvalidArgument(fmt::format("no group {}{}. Groups: {}", Quoted(name),
                                     DidYouMean(name, names),
                                     fmt::join(names, ", ")));
}

}  // namespace gauntlet
