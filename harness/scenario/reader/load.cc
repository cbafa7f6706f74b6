#include <algorithm>
#include <iterator>
#include <set>

#include "engine/text/nearest_names.h"
#include "harness/scenario/format/fault_synonyms.h"
#include "harness/scenario/format/keys.h"
#include "harness/scenario/format/upgrade.h"
#include "harness/scenario/scenario.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxShownErrors = 20;
constexpr size_t kMaxName = 100;
constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

// Reads `schema` and `name`. Returns false after an error that makes it useless
// to read the rest of the document.
bool ReadHead(const YamlNode& document, Scenario& scenario,
              Diagnostics& diagnostics) {
  const size_t errors = diagnostics.size();
  if (document.kind != YamlKind::kMap) {
    diagnostics.Error(document.place, fmt::format("expected a map, found {}",
                                                  DescribeYaml(document)));
    return false;
  }
  const YamlNode* schema = document.Find("schema");
  if (schema == nullptr || schema->scalar != kScenarioSchema) {
    diagnostics.Error(
        schema == nullptr ? document.place : schema->place,
        fmt::format("expected `schema: {}`, found {}", kScenarioSchema,
                    schema == nullptr ? "none" : DescribeYaml(*schema)));
  }
  const YamlNode* name = document.Find("name");
  if (name == nullptr) {
    // If a key is similar to "name", reports that key instead of the missing
    // name, because this helps more.
    for (const YamlEntry& entry : document.entries) {
      if (NearestName(entry.key, {"name"}).empty()) continue;
      diagnostics.Error(entry.place, fmt::format("unknown key '{}'", entry.key),
                        "did you mean name?");
      return false;
    }
    diagnostics.Error(document.place, "expected a `name`");
    return false;
  }
  scenario.place = name->place;
  scenario.name = name->scalar;
  if (name->scalar.empty() || name->scalar.size() > kMaxName ||
      name->scalar.front() == '.' || name->scalar.front() == '-' ||
      name->scalar.find_first_not_of(kNameCharacters) != std::string::npos) {
    diagnostics.Error(name->place,
                      fmt::format("expected a name of 1 to {} letters, digits, "
                                  "'-', '_' and '.', found {}",
                                  kMaxName, DescribeYaml(*name)));
  }
  return diagnostics.size() == errors;
}

}  // namespace

LoadedFile LoadScenarios(std::string_view text, std::string_view file) {
  LoadedFile loaded;
  Diagnostics diagnostics;
  std::vector<YamlNode> documents = ParseYaml(text, diagnostics);
  // If the text is not valid YAML, reads no document: further errors would
  // mislead.
  if (!diagnostics.empty()) documents.clear();
  if (documents.empty() && diagnostics.empty()) {
    diagnostics.Error({}, "expected a scenario, found nothing");
  }
  std::set<std::string> names;
  for (YamlNode& document : documents) {
    if (MayBeOld(document) && document.Find("schema") != nullptr) {
      std::ranges::move(Upgrade(document, diagnostics),
                        std::back_inserter(loaded.old_spellings));
    }
    ReplaceFaultSynonyms(document, diagnostics);
    Scenario scenario;
    scenario.file = file;
    scenario.document = document;
    if (!ReadHead(document, scenario, diagnostics)) continue;
    if (!names.insert(scenario.name).second) {
      diagnostics.Error(
          scenario.place,
          fmt::format("duplicate scenario '{}' in this file", scenario.name));
      continue;
    }
    for (Case& one : Resolve(scenario, diagnostics)) {
      loaded.cases.push_back(std::move(one));
    }
    loaded.scenarios.push_back(std::move(scenario));
  }
  loaded.errors = diagnostics.Sorted();
  loaded.warnings = diagnostics.SortedWarnings();
  if (!loaded.errors.empty()) {
    loaded.cases.clear();
    // An error may have caused some of the warnings, so drop them all.
    loaded.warnings.clear();
  }
  return loaded;
}

std::string RenderErrors(const LoadedFile& loaded, std::string_view file,
                         std::string_view text) {
  std::string out;
  for (size_t i = 0; i < loaded.errors.size(); ++i) {
    if (i == kMaxShownErrors) {
      out += fmt::format("{}: {} more errors\n", file,
                         loaded.errors.size() - kMaxShownErrors);
      break;
    }
    out += RenderDiagnostic(loaded.errors[i], file, text);
  }
  return out;
}

std::string RenderWarnings(const LoadedFile& loaded, std::string_view file,
                           std::string_view text) {
  std::string out;
  for (const Diagnostic& warning : loaded.warnings) {
    out += RenderDiagnostic(warning, file, text, Severity::kWarning);
  }
  return out;
}

std::string RenderOldSpellings(const LoadedFile& loaded,
                               std::string_view file) {
  if (loaded.old_spellings.empty()) return "";
  std::vector<std::string> renamed;
  std::vector<std::string> added;
  const auto add_once = [](std::vector<std::string>& texts, std::string text) {
    if (std::ranges::find(texts, text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  };
  for (const OldSpelling& one : loaded.old_spellings) {
    if (!one.added.empty()) add_once(added, one.added);
    if (one.new_name == kScenarioSchema || one.old_name == one.new_name) {
      continue;
    }
    add_once(renamed, fmt::format("{} → {}", one.old_name, one.new_name));
  }
  if (renamed.empty()) renamed.push_back("nothing that it uses");
  return fmt::format(
      "{}: note: this file uses {}, which is accepted for one release. "
      "Renamed: {}. {}`gauntlet upgrade {}` prints it as {}.\n",
      file, kOldScenarioSchema, fmt::join(renamed, ", "),
      added.empty() ? ""
                    : fmt::format("Added, as it was the default: {}. ",
                                  fmt::join(added, ", ")),
      file, kScenarioSchema);
}

}  // namespace gauntlet
