// Certificates for tests of TLS, created when needed.
#ifndef GAUNTLET_TESTS_ENGINE_REAL_NETWORK_TEST_CERTIFICATES_H_
#define GAUNTLET_TESTS_ENGINE_REAL_NETWORK_TEST_CERTIFICATES_H_

#include <memory>
#include <string>

#include <openssl/evp.h>
#include <openssl/x509.h>

namespace gauntlet {

struct PemPair {
  std::string cert;
  std::string key;
};

// A separate certificate authority.
class TestAuthority {
 public:
  TestAuthority();
  ~TestAuthority();
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  std::string Pem() const;
  // `names` are in OpenSSL's form: "DNS:job.example,IP:127.0.0.1". The
  // certificate is valid for `seconds`, from an hour ago.
  PemPair Issue(const std::string& names, long seconds = 7200) const;

 private:
  EVP_PKEY* key_;
  X509* certificate_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_REAL_NETWORK_TEST_CERTIFICATES_H_
