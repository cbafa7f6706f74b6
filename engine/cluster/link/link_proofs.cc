#include "engine/cluster/link/link_proofs.h"

#include <string_view>
#include <type_traits>

#include "engine/cluster/link/chunk_format.h"

namespace gauntlet {
namespace {

constexpr std::string_view kHello = "gauntlet/2 hello";
constexpr std::string_view kAccepted = "gauntlet/2 accepted";
constexpr std::string_view kWelcome = "gauntlet/2 welcome";
constexpr std::string_view kRefusal = "gauntlet/2 refusal";

template <typename T>
std::string_view BytesOfValue(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// Each overload calls use(parts), where `parts` is all data that the proof of
// the message covers.
template <typename Use>
auto WithSignedParts(const Nonce& nonce, uint32_t server, const Hello& hello,
                     const Use& use) {
  return use({kHello, BytesOfValue(nonce), BytesOfValue(server),
              BytesOfValue(hello.role), BytesOfValue(hello.rank),
              BytesOfValue(hello.incarnation), BytesOfValue(hello.generation),
              hello.host, hello.address, hello.payload, hello.nonce});
}

template <typename Use>
auto WithSignedParts(const LinkContext& link, const Accepted& /*accepted*/,
                     const Use& use) {
  return use({kAccepted, BytesOfValue(link.server_nonce), link.client_nonce,
              BytesOfValue(link.client), BytesOfValue(link.server)});
}

template <typename Use>
auto WithSignedParts(const LinkContext& link, const Welcome& welcome,
                     const Use& use) {
  const std::string addresses = EncodeList(welcome.addresses);
  return use({kWelcome, BytesOfValue(link.server_nonce), link.client_nonce,
              BytesOfValue(link.client), BytesOfValue(link.server),
              BytesOfValue(welcome.generation), addresses, welcome.decision});
}

template <typename Use>
auto WithSignedParts(const LinkContext& link, const Refusal& refusal,
                     const Use& use) {
  return use({kRefusal, BytesOfValue(link.server_nonce), link.client_nonce,
              BytesOfValue(link.client), BytesOfValue(link.server),
              BytesOfValue(refusal.code), refusal.message});
}

}  // namespace

LinkProofs::LinkProofs(const std::optional<JobToken>& token) {
  if (token) mac_.emplace(*token);
}

void LinkProofs::Sign(const Nonce& nonce, uint32_t server, Hello& hello) const {
  if (!mac_) return;
  hello.proof = WithSignedParts(
      nonce, server, hello,
      [this](TokenMac::Parts parts) { return mac_->Sign(parts); });
}

void LinkProofs::Sign(const LinkContext& link, Accepted& accepted) const {
  if (!mac_) return;
  accepted.proof = WithSignedParts(
      link, accepted,
      [this](TokenMac::Parts parts) { return mac_->Sign(parts); });
}

void LinkProofs::Sign(const LinkContext& link, Welcome& welcome) const {
  if (!mac_) return;
  welcome.proof = WithSignedParts(link, welcome, [this](TokenMac::Parts parts) {
    return mac_->Sign(parts);
  });
}

void LinkProofs::Sign(const LinkContext& link, Refusal& refusal) const {
  if (!mac_) return;
  refusal.proof = WithSignedParts(link, refusal, [this](TokenMac::Parts parts) {
    return mac_->Sign(parts);
  });
}

bool LinkProofs::Accepts(const Nonce& nonce, uint32_t server,
                         const Hello& hello) const {
  return !mac_ ||
         WithSignedParts(nonce, server, hello, [&](TokenMac::Parts parts) {
           return mac_->Accepts(parts, hello.proof);
         });
}

bool LinkProofs::Accepts(const LinkContext& link,
                         const Accepted& accepted) const {
  return !mac_ || WithSignedParts(link, accepted, [&](TokenMac::Parts parts) {
    return mac_->Accepts(parts, accepted.proof);
  });
}

bool LinkProofs::Accepts(const LinkContext& link,
                         const Welcome& welcome) const {
  return !mac_ || WithSignedParts(link, welcome, [&](TokenMac::Parts parts) {
    return mac_->Accepts(parts, welcome.proof);
  });
}

bool LinkProofs::Accepts(const LinkContext& link,
                         const Refusal& refusal) const {
  return !mac_ || WithSignedParts(link, refusal, [&](TokenMac::Parts parts) {
    return mac_->Accepts(parts, refusal.proof);
  });
}

}  // namespace gauntlet
