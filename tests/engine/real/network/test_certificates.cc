#include "tests/engine/real/network/test_certificates.h"

#include "engine/check.h"
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace gauntlet {
namespace {

constexpr long kHour = 3600;

EVP_PKEY* MakeKey() {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  CHECK(key != nullptr, "a key");
  return key;
}

void AddExtension(X509* certificate, X509* issuer, int kind,
                  const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension =
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  CHECK(extension != nullptr, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* MakeCertificate(EVP_PKEY* key, const std::string& subject, long serial,
                      long seconds) {
  X509* const certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -kHour);
  X509_gmtime_adj(X509_getm_notAfter(certificate), seconds - kHour);
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
      reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
  return certificate;
}

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

std::string PemOf(X509* certificate) {
  BIO* const bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  return TextOf(bio);
}

std::string PemOf(EVP_PKEY* key) {
  BIO* const bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  return TextOf(bio);
}

}  // namespace

TestAuthority::TestAuthority()
    : key_(MakeKey()),
      certificate_(MakeCertificate(key_, "test authority", 1, 24 * kHour)) {
  X509_set_issuer_name(certificate_, X509_get_subject_name(certificate_));
  AddExtension(certificate_, certificate_, NID_basic_constraints,
               "critical,CA:TRUE");
  CHECK(X509_sign(certificate_, key_, EVP_sha256()) > 0, "signed");
}

TestAuthority::~TestAuthority() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

std::string TestAuthority::Pem() const { return PemOf(certificate_); }

PemPair TestAuthority::Issue(const std::string& names, long seconds) const {
  EVP_PKEY* const key = MakeKey();
  X509* const certificate = MakeCertificate(key, "worker", 2, seconds);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate_));
  AddExtension(certificate, certificate_, NID_subject_alt_name, names);
  CHECK(X509_sign(certificate, key_, EVP_sha256()) > 0, "signed");
  PemPair pair = {.cert = PemOf(certificate), .key = PemOf(key)};
  X509_free(certificate);
  EVP_PKEY_free(key);
  return pair;
}

}  // namespace gauntlet
