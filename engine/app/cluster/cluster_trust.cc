#include "engine/app/cluster/cluster_trust.h"

#include <optional>

#include "engine/cluster/resolver/cluster_candidates.h"
#include "engine/train/rendezvous/job_token_file.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::optional<std::string_view> TokenVariable(const Environment& environment) {
  return FindVariable(environment, kTokenVariable);
}

Result<JobToken> TokenOf(World& world, TokenSource source,
                         const TokenSearch& search, const WorkerSpec& place) {
  if (source == TokenSource::kEnvironment) {
    Result<JobToken> token =
        JobToken::Parse(*TokenVariable(search.environment));
    if (token.ok()) return token;
    return Annotate(token.status(), kTokenVariable);
  }
  const std::string& directory = search.command.options.checkpoint.directory;
  if (place.rank == 0) return CreateTokenFile(world, directory);
  Result<JobToken> token =
      AwaitTokenFile(world, directory, search.deadline, search.say);
  if (token.status().code() != Code::kDeadlineExceeded) return token;
  return Annotate(token.status(),
                  fmt::format("rank {}: waiting for the chief ({})", place.rank,
                              place.addresses.front()));
}

}  // namespace

Result<TokenSource> TokenSourceOf(const Environment& environment,
                                  const TrainCommand& command) {
  if (command.workers) return TokenSource::kLauncher;
  if (command.insecure) {
    if (!TokenVariable(environment)) return TokenSource::kInsecure;
    return InvalidArgument(
        fmt::format("--insecure cannot be combined with {} in the environment",
                    kTokenVariable));
  }
  if (TokenVariable(environment)) return TokenSource::kEnvironment;
  return command.options.checkpoint.directory.empty()
             ? TokenSource::kNone
             : TokenSource::kCheckpointDirectory;
}

std::string TokenText(TokenSource source, const TrainCommand& command) {
  switch (source) {
    case TokenSource::kEnvironment:
      return std::string(kTokenVariable);
    case TokenSource::kCheckpointDirectory:
      return TokenFile(command.options.checkpoint.directory) +
             " (rank 0 makes it if it is missing)";
    case TokenSource::kLauncher:
      return "made here for the workers";
    case TokenSource::kNone:
      return "none: workers listen on loopback only";
    case TokenSource::kInsecure:
      return "none (--insecure): anyone who can connect can join";
  }
  return "?";
}

std::string TlsText(const TlsFiles& tls) {
  return tls.is_set() ? "mutual, by " + tls.cert : "none";
}

Status FindToken(World& world, const TokenSearch& search, WorkerSpec& place) {
  ASSIGN_OR_RETURN(const TokenSource source,
                   TokenSourceOf(search.environment, search.command));
  place.insecure = source == TokenSource::kInsecure;
  if (place.addresses.size() == 1 || place.insecure) return OkStatus();
  if (source != TokenSource::kNone) {
    ASSIGN_OR_RETURN(place.token, TokenOf(world, source, search, place));
    return OkStatus();
  }
  return CheckMayListenWithoutToken(place.rank, place.listen_on);
}

}  // namespace gauntlet
