#include "engine/cli/flags/flags.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/cli/flags/flag_synonyms.h"
#include "engine/real/posix/folder_entries.h"
#include "engine/text/nearest_names.h"
#include "engine/text/units.h"
#include "engine/utf8.h"
#include "engine/world/directories.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxShown = 120;
constexpr std::string_view kGeneral = "General";

// Returns "--jobs" for "-j,--jobs".
std::string LongName(const std::string& name) {
  return name.substr(name.find(',') + 1);
}

}  // namespace

struct Flags::Parser {
  explicit Parser(const FlagsHead& head)
      : page({.command = head.command,
              .summary = head.summary,
              .usage = head.usage,
              .groups = {},
              .examples = head.examples}),
        unknown_advice(head.unknown_advice) {}

  Status TooManyOrNoValue(std::string_view cli_message) const;
  Status ValueOfSwitch(std::string_view cli_message) const;
  Status Extra(const std::vector<std::string>& extras) const;
  Status UnexpectedArgument(const std::string& argument) const;
  Status CheckTexts() const;
  HelpPage Page() const;
  HelpGroup& Group(const std::string& title, GroupPage on);
  std::vector<std::string> OptionNames() const;

  CLI::App app;
  HelpPage page;  // without the positionals, and without the options that all
                  // commands have
  const std::string unknown_advice;
  std::string section = "Options";
  GroupPage section_page = GroupPage::kFirst;
  std::string help_group;  // GROUP of --help=GROUP
  std::map<std::string, std::string, std::less<>> new_names;  // by old name
  FlagText positional;
  PositionalCount positional_count;
  const std::vector<std::string>* positionals = nullptr;
};

Flags::Flags(const FlagsHead& head, const VerbArguments& verb)
    : parser_(std::make_unique<Parser>(head)), notes_(&verb.notes) {
  parser_->app.allow_extras();
  parser_->app.set_help_flag("-h,--help");
  Section(std::string(kGeneral));
  Value({"--color", "WHEN", "Color the output: auto, always or never (auto)."},
        ReadChoice<ColorChoice>(verb.color, {{"auto", ColorChoice::kAuto},
                                             {"always", ColorChoice::kOn},
                                             {"never", ColorChoice::kOff}}));
  Section("Options");
}

Flags::~Flags() = default;

void Flags::AddName(const FlagText& text) {
  if (!text.old_name.empty()) {
    parser_->new_names[text.old_name] = LongName(text.name);
  }
  HelpEntry entry = {.name = text.name, .text = text.help};
  const size_t comma = entry.name.find(',');
  if (comma != std::string::npos) entry.name.insert(comma + 1, " ");
  if (!text.value.empty()) entry.name += " " + text.value;
  parser_->Group(parser_->section, parser_->section_page)
      .entries.push_back(std::move(entry));
}

bool Flags::HasOption(std::string_view name) const {
  return parser_->app.get_option_no_throw(std::string(name)) != nullptr;
}

void Flags::Note(std::string note) const {
  if (std::ranges::find(*notes_, note) != notes_->end()) return;
  notes_->push_back(std::move(note));
}

Result<std::optional<std::string>> Flags::WithOwnName(
    const std::string& argument, std::string_view value) const {
  const size_t end = std::min(argument.find('='), argument.size());
  const std::string name = argument.substr(0, end);
  const auto found = parser_->new_names.find(name);
  if (found != parser_->new_names.end()) {
    Note(fmt::format(
        "{} is deprecated and will be removed in the next release: use {}",
        name, found->second));
    return std::optional(found->second + argument.substr(end));
  }
  const FlagSynonym* synonym = FindSynonym(name);
  if (synonym == nullptr) return std::optional(argument);
  if (synonym->use == SynonymUse::kReplaced) {
    Note(fmt::format("{} is understood as {}", name, synonym->option));
    return std::optional(std::string(synonym->option) + argument.substr(end));
  }
  if (synonym->use == SynonymUse::kRefused) {
    return InvalidArgument(
        fmt::format("unknown option {}: {}", Quoted(name), synonym->advice));
  }
  if (end < argument.size()) value = std::string_view(argument).substr(end + 1);
  if (!value.empty()) {
    return InvalidArgument(fmt::format("{}: expected no value, found {}: {}",
                                       name, Quoted(value), synonym->advice));
  }
  Note(fmt::format("{} is not needed: {}", name, synonym->advice));
  return std::optional<std::string>();
}

const FlagSynonym* Flags::FindSynonym(std::string_view name) const {
  if (HasOption(name)) return nullptr;
  for (const FlagSynonym& synonym : AllFlagSynonyms()) {
    if (synonym.name == name && HasOption(synonym.option)) return &synonym;
  }
  return nullptr;
}

Result<std::vector<std::string>> Flags::WithOwnNames(
    std::span<const std::string> arguments) const {
  std::vector<std::string> renamed;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      renamed.insert(renamed.end(), arguments.begin() + static_cast<long>(i),
                     arguments.end());
      break;
    }
    const std::string_view next =
        i + 1 < arguments.size() && !arguments[i + 1].starts_with('-')
            ? std::string_view(arguments[i + 1])
            : "";
    ASSIGN_OR_RETURN(std::optional<std::string> own,
                     WithOwnName(argument, next));
    if (own) renamed.push_back(*std::move(own));
  }
  return renamed;
}

void Flags::Section(std::string title, GroupPage page) {
  parser_->section = std::move(title);
  parser_->section_page = page;
}

HelpGroup& Flags::Parser::Group(const std::string& title, GroupPage on) {
  const auto found = std::ranges::find(page.groups, title, &HelpGroup::title);
  if (found != page.groups.end()) return *found;
  return page.groups.emplace_back(HelpGroup{title, on, {}});
}

void Flags::Value(const FlagText& text, FlagReader read) {
  const std::string name = LongName(text.name);
  const auto take = [name, read = std::move(read)](const std::string& value) {
    if (const Status status = read(value); !status.ok()) {
      throw CLI::ValidationError(name, status.message());
    }
  };
  parser_->app.add_option_function<std::string>(text.name, take);
  AddName(text);
}

void Flags::Values(const FlagText& text, std::vector<std::string>& values) {
  parser_->app.add_option(text.name, values)
      ->allow_extra_args(false)
      ->take_all()
      ->check(
          [](const std::string& value) { return CheckText(value).message(); });
  AddName(text);
}

void Flags::Switch(const FlagText& text, std::function<void()> set) {
  parser_->app.add_flag_callback(text.name, std::move(set));
  AddName(text);
}

void Flags::Positionals(const FlagText& text, const PositionalCount& count,
                        std::vector<std::string>& values) {
  parser_->app.add_option(text.name, values)->expected(0, -1);
  parser_->positional_count = count;
  parser_->positional = text;
  parser_->positionals = &values;
}

// Returns the error for an option that was given twice, or without a value:
// CLI11 throws the same exception type for both. `cli_message` begins with the
// option's name.
Status Flags::Parser::TooManyOrNoValue(std::string_view cli_message) const {
  const std::string name(cli_message.substr(0, cli_message.find(':')));
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_name() == name && option->count() > 1) {
      return InvalidArgument(name + ": given twice");
    }
  }
  return InvalidArgument(name + ": expected a value after it");
}

// Returns the error for a value after a switch. CLI11's message is "Could not
// convert: --json = foo".
Status Flags::Parser::ValueOfSwitch(std::string_view cli_message) const {
  const size_t name = cli_message.find('-');
  const size_t equals = cli_message.find(" = ");
  if (name == std::string_view::npos || equals == std::string_view::npos) {
    return InvalidArgument(std::string(cli_message));
  }
  return InvalidArgument(
      fmt::format("{}: expected no value, found {}",
                  cli_message.substr(name, equals - name),
                  Quoted(std::string(cli_message.substr(equals + 3)))));
}

// Returns each option's long name or, if it has none, its short name.
std::vector<std::string> Flags::Parser::OptionNames() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) {
      names.push_back(LongName(option->get_name(false, true)));
    }
  }
  return names;
}

Status Flags::Parser::Extra(const std::vector<std::string>& extras) const {
  const auto option =
      std::find_if(extras.begin(), extras.end(), [](const std::string& extra) {
        return extra.size() > 1 && extra.front() == '-';
      });
  if (option == extras.end()) return UnexpectedArgument(extras.front());
  const std::string name = option->substr(0, option->find('='));
  std::string advice = DidYouMean(name, OptionNames()) + unknown_advice;
  if (advice.empty())
    advice = fmt::format("; gauntlet {} --help lists all", page.command);
  return InvalidArgument(
      fmt::format("unknown option {}{}", Quoted(name), advice));
}

Status Flags::Parser::UnexpectedArgument(const std::string& argument) const {
  return InvalidArgument(fmt::format("unexpected argument {}{}",
                                     Quoted(argument), unknown_advice));
}

// Checks all values with the rules for paths, as any value may be a path or
// become part of one.
Status Flags::Parser::CheckTexts() const {
  for (const CLI::Option* option : app.get_options()) {
    const bool is_positional = option->get_positional();
    for (const std::string& text : option->results()) {
      RETURN_IF_ERROR(Annotate(CheckPath(text), is_positional
                                                    ? positional.value
                                                    : option->get_name()));
    }
  }
  return OkStatus();
}

Result<FlagsOutcome> Flags::Parse(std::span<const std::string> arguments) {
  Result<FlagsOutcome> outcome = ParseAll(arguments);
  if (outcome.ok() || notes_->empty()) return outcome;
  // The message contains only our names of the options; the notes state which
  // other names the user gave for them.
  return InvalidArgument(fmt::format("{} ({})", outcome.status().message(),
                                     fmt::join(*notes_, "; ")));
}

Result<FlagsOutcome> Flags::ParseAll(std::span<const std::string> arguments) {
  // CLI11 takes the arguments in reverse order.
  ASSIGN_OR_RETURN(const std::vector<std::string> renamed,
                   WithOwnNames(arguments));
  std::vector<std::string> reversed(renamed.rbegin(), renamed.rend());
  try {
    parser_->app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    RETURN_IF_ERROR(CheckHelpGroup());
    return FlagsOutcome::kHelpWanted;
  } catch (const CLI::ArgumentMismatch& error) {
    return parser_->TooManyOrNoValue(error.what());
  } catch (const CLI::ConversionError& error) {
    return parser_->ValueOfSwitch(error.what());
  } catch (const CLI::Error& error) {
    return InvalidArgument(error.what());
  }
  RETURN_IF_ERROR(parser_->CheckTexts());
  std::vector<std::string> extras = parser_->app.remaining();
  // "--" marks the end of the options; it is not an argument.
  std::erase(extras, "--");
  if (!extras.empty()) return parser_->Extra(extras);
  if (parser_->positionals != nullptr &&
      parser_->positionals->size() > parser_->positional_count.most) {
    return parser_->UnexpectedArgument(
        (*parser_->positionals)[parser_->positional_count.most]);
  }
  return FlagsOutcome::kParsed;
}

bool Flags::Given(const std::string& name) const {
  return parser_->app.count(name) > 0;
}

Status Flags::CheckHelpGroup() {
  const std::vector<std::string>& groups =
      parser_->app.get_help_ptr()->results();
  if (groups.empty() || groups.back() == "true") return OkStatus();
  parser_->help_group = groups.back();
  return RenderHelpGroup(parser_->Page(), parser_->help_group).status();
}

// Returns the help page, with the options that all commands have at its end.
HelpPage Flags::Parser::Page() const {
  HelpPage full = page;
  const auto general =
      std::ranges::find(full.groups, kGeneral, &HelpGroup::title);
  general->entries.push_back({"-h, --help", "Print this page and exit."});
  std::rotate(general, general + 1, full.groups.end());
  if (positionals == nullptr) return full;
  const std::string& value = positional.value;
  const auto& [least, most] = positional_count;
  const std::string many = value + (least == 0 && most > 1 ? "..." : "");
  full.usage += least == 0 ? fmt::format(" [{}]", many) : " " + value;
  full.groups.insert(full.groups.begin(),
                     {.title = "Arguments",
                      .page = GroupPage::kFirst,
                      .entries = {{value, positional.help}}});
  return full;
}

std::string Flags::Help() const {
  const HelpPage page = parser_->Page();
  if (parser_->help_group.empty()) return RenderHelpPage(page);
  return RenderHelpGroup(page, parser_->help_group).value();
}

std::string Quoted(std::string_view text) {
  const std::string_view shown =
      IsUtf8(text) ? TruncateUtf8(text, kMaxShown) : text.substr(0, kMaxShown);
  return fmt::format("'{}{}'", EscapeBytes(shown),
                     shown.size() < text.size() ? "…" : "");
}

std::string DidYouMean(std::string_view mistyped,
                       const std::vector<std::string>& names) {
  const std::vector<std::string> nearest = NearestNames(mistyped, names);
  return nearest.empty()
             ? ""
             : fmt::format("; did you mean {}?", fmt::join(nearest, " or "));
}

std::string DidYouMeanNameWith(std::string_view part,
                               const std::vector<std::string>& names) {
  constexpr size_t kLeastPart = 3;
  if (part.size() < kLeastPart) return "";
  for (const std::string& name : names) {
    if (name.find(part) != name.npos) {
      return fmt::format("; did you mean {}?", name);
    }
  }
  return "";
}

std::string DidYouMeanFile(const std::string& path) {
  const std::filesystem::path missing(path);
  const std::filesystem::path folder =
      missing.has_parent_path() ? missing.parent_path() : ".";
  std::vector<std::string> others;
  for (const auto& entry : EntriesOf(folder)) {
    const std::filesystem::path other = entry.path().filename();
    // If both names have the same extension, they must be similar even without
    // it.
    const bool is_similar =
        other.extension() != missing.extension() ||
        !NearestNames(missing.stem().string(), {other.stem().string()}).empty();
    if (is_similar) others.push_back(other);
  }
  std::ranges::sort(others);
  return DidYouMean(missing.filename().string(), others);
}

Status ExpectedValue(std::string_view expected, std::string_view found) {
  return InvalidArgument(
      fmt::format("expected {}, found {}", expected, Quoted(found)));
}

Status ExpectedOneOf(const std::vector<std::string>& names,
                     std::string_view found) {
  // One edit turns a short word into another one: gpu into cpu.
  constexpr size_t kLongestShortWord = 3;
  std::string meant =
      found.size() > kLongestShortWord ? DidYouMean(found, names) : "";
  // "simulation" for sim.
  constexpr size_t kLeastAbbreviation = 3;
  const auto shorter = std::ranges::find_if(names, [&](const auto& name) {
    return name.size() >= kLeastAbbreviation && found.starts_with(name);
  });
  if (meant.empty() && shorter != names.end()) {
    meant = fmt::format("; did you mean {}?", *shorter);
  }
  return InvalidArgument(fmt::format("expected one of {}, found {}{}",
                                     fmt::join(names, ", "), Quoted(found),
                                     meant));
}

Status CheckText(std::string_view text) {
  if (!text.empty() && !text.starts_with("--")) return OkStatus();
  return ExpectedValue("a value", text);
}

FlagReader ReadText(std::string& target) {
  return [&target](const std::string& text) -> Status {
    RETURN_IF_ERROR(CheckText(text));
    target = text;
    return OkStatus();
  };
}

FlagReader ReadText(std::optional<std::string>& target) {
  return [&target](const std::string& text) -> Status {
    RETURN_IF_ERROR(CheckText(text));
    target = text;
    return OkStatus();
  };
}

FlagReader ReadTime(std::optional<Duration>& target) {
  return [&target](const std::string& text) -> Status {
    const std::optional<Duration> duration = ParseDuration(text);
    if (!duration || *duration <= Duration::zero()) {
      return ExpectedValue("a time such as 60s, 10m, 1h, up to 24h", text);
    }
    target = *duration;
    return OkStatus();
  };
}

}  // namespace gauntlet
