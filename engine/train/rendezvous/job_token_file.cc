#include "engine/train/rendezvous/job_token_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/retrying.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxFileBytes = 4096;
constexpr int kMaxRounds = 64;
constexpr Duration kTokenPollInterval = std::chrono::milliseconds(100);
// First and longest pause between two calls of RefreshTokenListing by one rank.
// The pauses double: thousands of ranks may be waiting, and each call changes
// the directory.
constexpr Duration kFirstChangeAfter = std::chrono::milliseconds(100);
constexpr Duration kMaxChangePause = std::chrono::seconds(5);

// Returns advice to the user about a file that cannot be used.
std::string Remedy() {
  return fmt::format(
      "remove it while no worker of the job runs, or set {} for all workers",
      kTokenVariable);
}

std::string UniqueTmpName(Entropy& entropy) {
  std::array<std::byte, 8> bytes;
  entropy.Fill(bytes);
  std::string digits;
  for (const std::byte byte : bytes) {
    digits += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return TokenTmpName(digits);
}

Status WritePrivate(Storage& storage, const std::string& path,
                    const std::string& text) {
  ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                   storage.CreatePrivate(path));
  RETURN_IF_ERROR(file->WriteAt(0, std::as_bytes(std::span(text))));
  return file->Sync();
}

// Writes the token file. kAlreadyExists: another chief was first. kNotFound:
// another chief removed the temporary file as a leftover.
Status Publish(World& world, const std::string& directory,
               const JobToken& token) {
  const std::string tmp = directory + "/" + UniqueTmpName(world.entropy);
  Status status = WritePrivate(world.storage, tmp, token.Reveal() + "\n");
  if (status.ok()) {
    status = world.storage.RenameToNew(tmp, TokenFile(directory));
  }
  if (!status.ok()) {
    // An error of this removal is ignored: `status` has the first error.
    static_cast<void>(world.storage.Remove(tmp, FileKind::kFile));
  }
  return status;
}

// Creates and removes a file in the directory, so that this host rereads the
// listing, which it may have cached. Ignores errors: this worker may have no
// write permission.
void RefreshTokenListing(World& world, const std::string& directory) {
  const std::string path = TokenFile(directory) + std::string(kProbeSuffix);
  if (world.storage.Open(path, OpenMode::kCreateTruncate).ok()) {
    static_cast<void>(world.storage.Remove(path, FileKind::kFile));
  }
}

}  // namespace

std::string TokenFile(const std::string& directory) {
  return directory + "/" + std::string(kTokenFileName);
}

Result<JobToken> ReadTokenFile(World& world, const std::string& directory) {
  const std::string path = TokenFile(directory);
  // Reads from the file that OpenPrivate has checked, without opening the name
  // again.
  const auto read_once = [&]() -> Result<std::string> {
    ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                     world.storage.OpenPrivate(path));
    return ReadFile(*file, path, kMaxFileBytes);
  };
  const Result<std::string> read = RetryOnDiskError(world, read_once);
  if (read.status().code() == Code::kFailedPrecondition) {
    return InvalidArgument(
        fmt::format("{}: {}", read.status().message(), Remedy()));
  }
  if (!read.ok() && read.status().code() != Code::kDataLoss) {
    return read.status();
  }
  Result<JobToken> token = InvalidArgument(read.status().message());
  if (read.ok()) {
    const std::string_view text = *read;
    const size_t end = text.ends_with('\n') ? text.size() - 1 : text.size();
    token = JobToken::Parse(text.substr(0, end));
  }
  if (token.ok()) return token;
  return InvalidArgument(fmt::format("{}: damaged: {}: {}", path,
                                     token.status().message(), Remedy()));
}

Result<JobToken> CreateTokenFile(World& world, const std::string& directory) {
  for (int round = 0; round < kMaxRounds; ++round) {
    Result<JobToken> token = ReadTokenFile(world, directory);
    if (token.status().code() == Code::kNotFound) {
      token = JobToken::Make(world.entropy);
      const Status made = Publish(world, directory, *token);
      if (made.code() == Code::kAlreadyExists ||
          made.code() == Code::kNotFound) {
        // Rereads the listing: a stale one may hide the existing file.
        RefreshTokenListing(world, directory);
        continue;
      }
      if (!made.ok()) return Annotate(made, TokenFile(directory));
    }
    RETURN_IF_ERROR(token.status());
    // Syncs another chief's file too: no worker may use a token that a power
    // loss can undo.
    RETURN_IF_ERROR(world.storage.SyncDirectory(directory));
    return token;
  }
  return Unavailable(
      fmt::format("{}: comes and goes faster than it can be read; set {} for "
                  "all workers",
                  TokenFile(directory), kTokenVariable));
}

Result<JobToken> AwaitTokenFile(
    World& world, const std::string& directory, Time deadline,
    const std::function<void(std::string_view)>& log) {
  bool is_reported = false;
  Duration pause = kFirstChangeAfter;
  Time change_at = world.clock.Now() + pause;
  while (true) {
    Result<JobToken> token = ReadTokenFile(world, directory);
    if (token.status().code() != Code::kNotFound) return token;
    const Time now = world.clock.Now();
    if (now >= deadline) break;
    if (!std::exchange(is_reported, true)) {
      log(fmt::format("waiting for the chief to make {}",
                      TokenFile(directory)));
    }
    if (now >= change_at) {
      RefreshTokenListing(world, directory);
      pause = std::min(2 * pause, kMaxChangePause);
      change_at = now + pause;
    } else {
      // Makes the host ask its file server whether the directory has changed.
      static_cast<void>(world.storage.List(directory));
    }
    world.clock.SleepUntil(std::min(deadline, now + kTokenPollInterval));
  }
  return DeadlineExceeded(
      fmt::format("{}: the chief has not made it in time: --ckpt has to be a "
                  "directory that "
                  "all workers share; or set {} for all of them",
                  TokenFile(directory), kTokenVariable));
}

}  // namespace gauntlet
