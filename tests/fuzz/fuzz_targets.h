// The targets, one file each: <name>_fuzz.cc.
#ifndef GAUNTLET_TESTS_FUZZ_FUZZ_TARGETS_H_
#define GAUNTLET_TESTS_FUZZ_FUZZ_TARGETS_H_

#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

void FuzzCifar10(std::string_view input);
std::vector<std::string> Cifar10Seeds();
void FuzzClaim(std::string_view input);
std::vector<std::string> ClaimSeeds();
void FuzzCluster(std::string_view input);
std::vector<std::string> ClusterSeeds();
void FuzzEventLog(std::string_view input);
std::vector<std::string> EventLogSeeds();
void FuzzFrame(std::string_view input);
std::vector<std::string> FrameSeeds();
void FuzzIdx(std::string_view input);
std::vector<std::string> IdxSeeds();
void FuzzJob(std::string_view input);
std::vector<std::string> JobSeeds();
void FuzzJobFile(std::string_view input);
std::vector<std::string> JobFileSeeds();
void FuzzManifest(std::string_view input);
std::vector<std::string> ManifestSeeds();
void FuzzMetadataAnswer(std::string_view input);
std::vector<std::string> MetadataAnswerSeeds();
void FuzzRendezvous(std::string_view input);
std::vector<std::string> RendezvousSeeds();
void FuzzNpy(std::string_view input);
std::vector<std::string> NpySeeds();
void FuzzPlan(std::string_view input);
std::vector<std::string> PlanSeeds();
void FuzzRecord(std::string_view input);
std::vector<std::string> RecordSeeds();
void FuzzResult(std::string_view input);
std::vector<std::string> ResultSeeds();
void FuzzSafetensors(std::string_view input);
std::vector<std::string> SafetensorsSeeds();
void FuzzScenario(std::string_view input);
std::vector<std::string> ScenarioSeeds();
void FuzzSession(std::string_view input);
std::vector<std::string> SessionSeeds();
void FuzzStateFile(std::string_view input);
std::vector<std::string> StateFileSeeds();
void FuzzStoreNames(std::string_view input);
std::vector<std::string> StoreNamesSeeds();
void FuzzTfConfig(std::string_view input);
std::vector<std::string> TfConfigSeeds();
void FuzzTrainOptions(std::string_view input);
std::vector<std::string> TrainOptionsSeeds();

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_FUZZ_FUZZ_TARGETS_H_
