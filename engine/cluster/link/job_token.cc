#include "engine/cluster/link/job_token.h"

#include <cstdint>
#include <mutex>
#include <utility>

#include "engine/check.h"
#include "engine/cluster/address_text.h"
#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

namespace gauntlet {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

// Returns the value of a hexadecimal digit; -1 for any other character.
int ValueOf(char digit) {
  if (digit >= 'A' && digit <= 'F') digit = static_cast<char>(digit + 32);
  const size_t value = kDigits.find(digit);
  return value == kDigits.npos ? -1 : static_cast<int>(value);
}

const unsigned char* UnsignedBytes(const void* data) {
  return static_cast<const unsigned char*>(data);
}

}  // namespace

JobToken JobToken::Make(Entropy& entropy) {
  JobToken token;
  entropy.Fill(token.bytes_);
  return token;
}

Result<JobToken> JobToken::Parse(std::string_view text) {
  JobToken token;
  if (text.size() != 2 * kBytes) {
    return InvalidArgument(
        fmt::format("expected {} hexadecimal digits, found {} characters",
                    2 * kBytes, text.size()));
  }
  for (size_t i = 0; i < kBytes; ++i) {
    const int high = ValueOf(text[2 * i]);
    const int low = ValueOf(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      return InvalidArgument(fmt::format(
          "expected {} hexadecimal digits, found another character at {}",
          2 * kBytes, 2 * i + (high < 0 ? 0 : 1)));
    }
    token.bytes_[i] = static_cast<std::byte>(high * 16 + low);
  }
  return token;
}

std::string JobToken::Reveal() const {
  std::string text;
  for (const std::byte byte : bytes_) {
    text += kDigits[std::to_integer<size_t>(byte >> 4)];
    text += kDigits[std::to_integer<size_t>(byte & std::byte{15})];
  }
  return text;
}

Status CheckMayListenWithoutToken(int rank, std::string_view address) {
  if (IsLoopbackHost(HostOf(address))) return OkStatus();
  return InvalidArgument(fmt::format(
      "rank {}: cannot listen on {} without a job token: anyone could join. "
      "Set {} to the same 64 hexadecimal digits on all workers (openssl rand "
      "-hex 32), or use a shared --ckpt DIR, or --insecure",
      rank, address, kTokenVariable));
}

struct TokenMac::Context {
  std::mutex mutex;
  EVP_MAC* algorithm = EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
  EVP_MAC_CTX* keyed = EVP_MAC_CTX_new(algorithm);

  Context() { CHECK(keyed != nullptr, "OpenSSL has HMAC"); }
  ~Context() {
    EVP_MAC_CTX_free(keyed);
    EVP_MAC_free(algorithm);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

TokenMac::TokenMac(const JobToken& token)
    : context_(std::make_unique<Context>()) {
  std::string digest = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(),
                                       digest.size()),
      OSSL_PARAM_construct_end()};
  CHECK(EVP_MAC_init(context_->keyed, UnsignedBytes(token.bytes_.data()),
                     token.bytes_.size(), parameters) == 1,
        "OpenSSL has SHA-256");
}

TokenMac::~TokenMac() = default;

std::string TokenMac::Sign(Parts parts) const {
  const std::lock_guard lock(context_->mutex);
  // With a null key, OpenSSL starts a new computation with the context's key.
  bool good = EVP_MAC_init(context_->keyed, nullptr, 0, nullptr) == 1;
  for (const std::string_view part : parts) {
    const uint64_t size = part.size();
    good &= EVP_MAC_update(context_->keyed, UnsignedBytes(&size),
                           sizeof(size)) == 1;
    good &=
        EVP_MAC_update(context_->keyed, UnsignedBytes(part.data()), size) == 1;
  }
  std::string proof(kBytes, '\0');
  size_t written = 0;
  good &= EVP_MAC_final(context_->keyed,
                        reinterpret_cast<unsigned char*>(proof.data()),
                        &written, proof.size()) == 1;
  CHECK(good && written == kBytes, "HMAC-SHA256 cannot fail");
  return proof;
}

bool TokenMac::Accepts(Parts parts, std::string_view proof) const {
  const std::string expected = Sign(parts);
  return proof.size() == expected.size() &&
         CRYPTO_memcmp(proof.data(), expected.data(), expected.size()) == 0;
}

}  // namespace gauntlet
