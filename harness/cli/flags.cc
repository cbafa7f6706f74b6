#include "harness/cli/flags.h"

#include <algorithm>
#include <map>

#include "engine/utf8.h"
#include "engine/world/directories.h"
#include "harness/scenario/diagnostic.h"
#include "harness/scenario/units.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxShown = 60;

// "--jobs" of "-j,--jobs".
std::string LongName(const std::string& name) {
  return name.substr(name.find(',') + 1);
}

}  // namespace

struct Flags::Parser {
  explicit Parser(const FlagsHead& head)
      : app(head.summary, "gauntlet " + head.command) {}

  Status TooManyOrNoValue(std::string_view cli_message) const;
  Status ValueOfSwitch(std::string_view cli_message) const;
  Status Extra(const std::vector<std::string>& extras) const;
  Status CheckTexts() const;

  CLI::App app;
  std::string section = "Options";
  std::vector<std::string> names;  // long ones, with their dashes
  std::map<std::string, std::string, std::less<>> new_names;  // by old name
  FlagText positional;
  PositionalCount positional_count;
  const std::vector<std::string>* positionals = nullptr;
};

Flags::Flags(const FlagsHead& head, const VerbArguments& verb)
    : parser_(std::make_unique<Parser>(head)), notes_(&verb.notes) {
  parser_->app.allow_extras();
  parser_->app.set_help_flag("-h,--help", "print this and leave");
  parser_->app.footer(head.examples);
  parser_->names.push_back("--help");
  Value({"--color", "WHEN", "auto, always or never"},
        ReadChoice<ColorChoice>(verb.color, {{"auto", ColorChoice::kAuto},
                                             {"always", ColorChoice::kOn},
                                             {"never", ColorChoice::kOff}}));
}

Flags::~Flags() = default;

void Flags::AddName(const FlagText& text) {
  const std::string name = LongName(text.name);
  parser_->names.push_back(name);
  if (!text.old_name.empty()) parser_->new_names[text.old_name] = name;
}

std::vector<std::string> Flags::WithNewNames(
    std::span<const std::string> arguments) const {
  std::vector<std::string> renamed;
  bool is_option = true;  // until "--"
  for (const std::string& argument : arguments) {
    is_option = is_option && argument != "--";
    const size_t end = std::min(argument.find('='), argument.size());
    const auto found = parser_->new_names.find(argument.substr(0, end));
    if (!is_option || found == parser_->new_names.end()) {
      renamed.push_back(argument);
      continue;
    }
    const auto& [old_name, name] = *found;
    renamed.push_back(name + argument.substr(end));
    std::string note = fmt::format(
        "{} is deprecated and will be removed in the next release: use {}",
        old_name, name);
    if (std::ranges::find(*notes_, note) == notes_->end()) {
      notes_->push_back(std::move(note));
    }
  }
  return renamed;
}

void Flags::Section(std::string title) { parser_->section = std::move(title); }

void Flags::Value(const FlagText& text, FlagReader read) {
  const std::string name = LongName(text.name);
  const auto take = [name, read = std::move(read)](const std::string& value) {
    if (const Status status = read(value); !status.ok()) {
      throw CLI::ValidationError(name, status.message());
    }
  };
  parser_->app.add_option_function<std::string>(text.name, take, text.help)
      ->type_name(text.value)
      ->group(parser_->section);
  AddName(text);
}

void Flags::Values(const FlagText& text, std::vector<std::string>& values) {
  parser_->app.add_option(text.name, values, text.help)
      ->type_name(text.value)
      ->group(parser_->section)
      ->allow_extra_args(false)
      ->take_all()
      ->check(
          [](const std::string& value) { return CheckText(value).message(); });
  AddName(text);
}

void Flags::Switch(const FlagText& text, std::function<void()> set) {
  parser_->app.add_flag_callback(text.name, std::move(set), text.help)
      ->group(parser_->section);
  AddName(text);
}

void Flags::Positionals(const FlagText& text, const PositionalCount& count,
                        std::vector<std::string>& values) {
  parser_->app.add_option(text.name, values, text.help)
      ->type_name(text.value)
      ->expected(0, -1);
  parser_->positional_count = count;
  parser_->positional = text;
  parser_->positionals = &values;
}

// CLI11 reports both with one type of exception, whose text begins with the
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

// CLI11 says "Could not convert: --json = foo".
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

Status Flags::Parser::Extra(const std::vector<std::string>& extras) const {
  const auto option =
      std::find_if(extras.begin(), extras.end(), [](const std::string& extra) {
        return extra.size() > 1 && extra.front() == '-';
      });
  if (option == extras.end()) {
    return InvalidArgument("unexpected argument " + Quoted(extras.front()));
  }
  const std::string name = option->substr(0, option->find('='));
  return InvalidArgument(fmt::format("unknown option {}{}", Quoted(name),
                                     DidYouMean(name, names)));
}

// Any value may be a path, or end in one: all are held to the paths' rule.
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
  // The message has the new names.
  return InvalidArgument(fmt::format("{} ({})", outcome.status().message(),
                                     fmt::join(*notes_, "; ")));
}

Result<FlagsOutcome> Flags::ParseAll(std::span<const std::string> arguments) {
  // CLI11 takes them from the end.
  const std::vector<std::string> renamed = WithNewNames(arguments);
  std::vector<std::string> reversed(renamed.rbegin(), renamed.rend());
  try {
    parser_->app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
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
  // What ends the options is none.
  std::erase(extras, "--");
  if (!extras.empty()) return parser_->Extra(extras);
  if (parser_->positionals != nullptr &&
      parser_->positionals->size() > parser_->positional_count.most) {
    return InvalidArgument(
        "unexpected argument " +
        Quoted((*parser_->positionals)[parser_->positional_count.most]));
  }
  return FlagsOutcome::kParsed;
}

bool Flags::Given(const std::string& name) const {
  return parser_->app.count(name) > 0;
}

// CLI11 takes any number of positionals, or none, by a name that nobody types,
// and says so.
std::string Flags::Help() const {
  std::string help = parser_->app.help();
  if (parser_->positionals == nullptr) return help;
  const auto replace = [&help](const std::string& from, const std::string& to) {
    const size_t at = help.find(from);
    if (at != help.npos) help.replace(at, from.size(), to);
  };
  const std::string& name = parser_->positional.name;
  const std::string& value = parser_->positional.value;
  const auto& [least, most] = parser_->positional_count;
  const std::string many = value + (least == 0 && most > 1 ? "..." : "");
  replace(fmt::format("[{}...]", name),
          least == 0 ? fmt::format("[{}]", many) : value);
  const std::string shown = fmt::format("{} {} ...", name, value);
  replace(shown, value + std::string(shown.size() - value.size(), ' '));
  return help;
}

std::string Quoted(std::string_view text) {
  const std::string_view shown =
      IsUtf8(text) ? TruncateUtf8(text, kMaxShown) : text.substr(0, kMaxShown);
  return fmt::format("'{}{}'", EscapeBytes(shown),
                     shown.size() < text.size() ? "…" : "");
}

std::string DidYouMean(std::string_view mistyped,
                       const std::vector<std::string>& names) {
  const std::string nearest = NearestName(mistyped, names);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

Status ExpectedValue(std::string_view expected, std::string_view found) {
  return InvalidArgument(
      fmt::format("expected {}, found {}", expected, Quoted(found)));
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
