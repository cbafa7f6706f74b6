#include "engine/real/network/tls_credentials.h"

#include <cstdint>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxPemBytes = uint64_t{1} << 20;

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
void FreeStack(STACK_OF(X509) * certificates) {
  sk_X509_pop_free(certificates, X509_free);
}
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Certificates = std::unique_ptr<STACK_OF(X509), Freed<FreeStack>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Store = std::unique_ptr<X509_STORE, Freed<X509_STORE_free>>;
using Check = std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>>;

// Returns no passphrase, so that OpenSSL does not prompt for one.
int NoPassphrase(char*, int, int, void*) { return 0; }

Bio OpenPem(std::string_view pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

Result<std::string> ReadPem(Storage& storage, std::string_view flag,
                            const std::string& path) {
  Result<std::string> pem = ReadFile(storage, path, kMaxPemBytes);
  if (pem.ok()) return pem;
  return InvalidArgument(fmt::format("{}: {}", flag, pem.status().message()));
}

// Reads all certificates of the text, at least one.
Result<Certificates> ReadCertificates(std::string_view flag,
                                      const std::string& path,
                                      std::string_view pem) {
  Certificates read(sk_X509_new_null());
  const Bio bio = OpenPem(pem);
  while (X509* const next =
             PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    sk_X509_push(read.get(), next);
  }
  // The loop always ends with an error. PEM_R_NO_START_LINE: the text has no
  // further certificate.
  const bool at_end =
      ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (at_end && sk_X509_num(read.get()) > 0) return read;
  return InvalidArgument(
      fmt::format("{}: {}: expected certificates in PEM form, found {}", flag,
                  path, at_end ? "none" : "one that is damaged"));
}

Status CheckKey(const TlsFiles& files, std::string_view pem, X509* own) {
  const Bio bio = OpenPem(pem);
  const PrivateKey key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  const bool fits =
      key != nullptr && X509_check_private_key(own, key.get()) == 1;
  ERR_clear_error();
  if (fits) return OkStatus();
  if (key != nullptr) {
    return InvalidArgument(
        fmt::format("--tls-key: {}: not the key of {}", files.key, files.cert));
  }
  return InvalidArgument(
      fmt::format("--tls-key: {}: expected a private key in PEM form, without "
                  "a passphrase",
                  files.key));
}

// Checks the signature by the same rules as the other workers' TLS libraries.
Status CheckSigned(const TlsFiles& files, STACK_OF(X509) * chain,
                   STACK_OF(X509) * ca) {
  const Store store(X509_STORE_new());
  for (int i = 0; i < sk_X509_num(ca); ++i) {
    X509_STORE_add_cert(store.get(), sk_X509_value(ca, i));
  }
  for (const int purpose : {X509_PURPOSE_SSL_SERVER, X509_PURPOSE_SSL_CLIENT}) {
    const Check check(X509_STORE_CTX_new());
    X509_STORE_CTX_init(check.get(), store.get(), sk_X509_value(chain, 0),
                        chain);
    X509_STORE_CTX_set_purpose(check.get(), purpose);
    const bool good = X509_verify_cert(check.get()) == 1;
    const int error = X509_STORE_CTX_get_error(check.get());
    ERR_clear_error();
    if (good) continue;
    return InvalidArgument(fmt::format(
        "--tls-cert: {}: not valid for a TLS {} under --tls-ca {}: {}",
        files.cert, purpose == X509_PURPOSE_SSL_SERVER ? "server" : "client",
        files.ca, X509_verify_cert_error_string(error)));
  }
  return OkStatus();
}

Status CheckName(const TlsFiles& files, X509* own) {
  const std::string& name = files.name;
  if (name.empty() ||
      X509_check_host(own, name.data(), name.size(), 0, nullptr) == 1) {
    return OkStatus();
  }
  return InvalidArgument(
      fmt::format("--tls-name: {}: certificate does not contain the name {}",
                  files.cert, name));
}

}  // namespace

Result<TlsCredentials> ReadTlsCredentials(Storage& storage,
                                          const TlsFiles& files) {
  TlsCredentials read{.name = files.name};
  ASSIGN_OR_RETURN(read.cert, ReadPem(storage, "--tls-cert", files.cert));
  ASSIGN_OR_RETURN(read.key, ReadPem(storage, "--tls-key", files.key));
  ASSIGN_OR_RETURN(read.ca, ReadPem(storage, "--tls-ca", files.ca));
  ASSIGN_OR_RETURN(const Certificates chain,
                   ReadCertificates("--tls-cert", files.cert, read.cert));
  ASSIGN_OR_RETURN(const Certificates ca,
                   ReadCertificates("--tls-ca", files.ca, read.ca));
  X509* const own = sk_X509_value(chain.get(), 0);
  RETURN_IF_ERROR(CheckKey(files, read.key, own));
  RETURN_IF_ERROR(CheckSigned(files, chain.get(), ca.get()));
  RETURN_IF_ERROR(CheckName(files, own));
  return read;
}

Status CheckTlsFiles(Storage& storage, const TlsFiles& files) {
  return files.is_set() ? ReadTlsCredentials(storage, files).status()
                        : OkStatus();
}

}  // namespace gauntlet
