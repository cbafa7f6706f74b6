// A checkpoint store under any sequence of actions and faults. The next process
// loads the checkpoint that the model requires, or refuses. It never loads one
// that is fenced, torn or damaged.
#include <map>

#include <rapidcheck/state.h>

#include "tests/property/property.h"
#include "tests/property/store_process.h"

namespace gauntlet {
namespace {

// State of the store by which the generator chooses actions that make sense.
struct StoreModel {
  bool used = false;  // has been claimed
  int stale = 0;      // processes of kStay that kLate has not used
};

bool MakesSense(const StoreModel& model, const StoreAction& action) {
  switch (action.verb) {
    case StoreVerb::kLate:
      return model.stale > 0;
    case StoreVerb::kDamage:
    case StoreVerb::kEdit:
    case StoreVerb::kMisedit:
    case StoreVerb::kForget:
    case StoreVerb::kPower:
      return model.used;
    default:
      return true;
  }
}

void Apply(const StoreAction& action, StoreModel& model) {
  model.used = true;
  if (action.verb == StoreVerb::kStay) ++model.stale;
  if (action.verb == StoreVerb::kLate) --model.stale;
  if (action.verb == StoreVerb::kPower) model.stale = 0;
}

class StoreCommand final : public rc::state::Command<StoreModel, StoreProcess> {
 public:
  explicit StoreCommand(const StoreAction& action) : action_(action) {}

  void checkPreconditions(const StoreModel& model) const override {
    RC_PRE(MakesSense(model, action_));
  }
  void apply(StoreModel& model) const override { Apply(action_, model); }
  void run(const StoreModel&, StoreProcess& incarnation) const override {
    RC_ASSERT(incarnation.Do(action_) == "");
  }
  void show(std::ostream& out) const override {
    out << ScriptToText({.actions = {action_}});
  }
  const StoreAction& action() const { return action_; }

 private:
  StoreAction action_;
};

rc::Gen<StoreVerb> AnyVerb() {
  return rc::gen::weightedElement<StoreVerb>({{4, StoreVerb::kLive},
                                              {6, StoreVerb::kGone},
                                              {3, StoreVerb::kError},
                                              {3, StoreVerb::kStay},
                                              {3, StoreVerb::kLate},
                                              {3, StoreVerb::kRace},
                                              {2, StoreVerb::kDamage},
                                              {1, StoreVerb::kEdit},
                                              {1, StoreVerb::kMisedit},
                                              {1, StoreVerb::kForget},
                                              {4, StoreVerb::kPower}});
}

rc::Gen<StoreAction> AnyAction() {
  return rc::gen::exec([] {
    return StoreAction{.verb = *AnyVerb(),
                       .saves = *rc::gen::inRange<uint64_t>(0, 4),
                       .keep = *rc::gen::inRange<uint64_t>(1, 4),
                       .at = *rc::gen::inRange<uint64_t>(0, 200),
                       .byte = *rc::gen::inRange<uint64_t>(0, 100'000)};
  });
}

using Commands = rc::state::Commands<StoreCommand::CommandType>;

rc::Gen<StoreScript> AnyScript() {
  const auto any_command = [](const StoreModel&) {
    return rc::gen::map(
        AnyAction(),
        [](const StoreAction& action)
            -> std::shared_ptr<const StoreCommand::CommandType> {
          return std::make_shared<StoreCommand>(action);
        });
  };
  return rc::gen::apply(
      [](DurabilityProfile profile, const Commands& commands) {
        StoreScript script = {.profile = profile, .actions = {}};
        for (const auto& command : commands) {
          script.actions.push_back(
              static_cast<const StoreCommand&>(*command).action());
        }
        return script;
      },
      rc::gen::element(DurabilityProfile::kExt4, DurabilityProfile::kWeak),
      rc::state::gen::commands(StoreModel(), any_command));
}

std::string WrongScript(const StoreScript& script,
                        const std::set<PlantedBug>& bugs = {}) {
  StoreProcess incarnation(script.profile, bugs);
  for (size_t i = 0; i < script.actions.size(); ++i) {
    const std::string wrong = incarnation.Do(script.actions[i]);
    if (!wrong.empty()) return "action " + std::to_string(i) + ": " + wrong;
  }
  // Finally, one more process claims.
  return incarnation.Do({.verb = StoreVerb::kLive});
}

TEST(StoreProperty, LoadsTheNewestRequiredCheckpointOrRefuses) {
  CheckProperty<StoreScript>(
      {.name = "store",
       .any = AnyScript(),
       .to_text = ScriptToText,
       .from_text = ScriptFromText,
       .wrong = [](const StoreScript& script) { return WrongScript(script); }});
}

// Shows that the property can fail: it finds planted bugs.
TEST(StoreProperty, FindsPlantedBugs) {
  for (const PlantedBug bug :
       {PlantedBug::kTrustManifestBlindly, PlantedBug::kSkipManifestSync,
        PlantedBug::kAcknowledgeBeforeRename}) {
    uint64_t number = 0;
    std::string wrong;
    while (wrong.empty() && ++number < 2000) {
      const auto script = AnyScript()(rc::Random(number), rc::kNominalSize);
      wrong = WrongScript(script.value(), {bug});
    }
    EXPECT_NE(wrong, "") << "bug " << static_cast<int>(bug);
  }
}

}  // namespace
}  // namespace gauntlet
