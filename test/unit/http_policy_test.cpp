// Tests of core/http/host_policy.hpp: which hosts a list allows, before and after DNS.
#include "core/http/host_policy.hpp"

#include <string>
#include <string_view>

#include "unit/catch_bridge.hpp"

using ai::ErrorCode;
using ai::FailureClass;
using ai::http::HostList;
using ai::http::IpAddress;
using ai::http::kDefaultAllowedHosts;
using ai::http::KeyMayGoTo;
using ai::http::ParseUrl;
using ai::http::Url;
using ai::test::ContainsSubstring;
using ai::test::IsError;

namespace {

Url To(std::string_view url) {
  return ParseUrl(url).value();
}

IpAddress At(std::string_view address) {
  return IpAddress::Parse(address).value();
}

}  // namespace

TEST_CASE("a list of hosts allows what it names", "[http]") {
  const HostList list = HostList::Parse(
      " api.openai.com , *.OpenAI.azure.com,localhost, 127.0.0.1:11434, [::1]:8080, 10.0.0.0/8,"
      "fd00::/8, 2001:db8::2, example.org:8443, 11.0.0.0/8:80");
  for (const auto url :
       {"https://api.openai.com/v1", "http://API.openai.com:8080/", "https://me.openai.azure.com/",
        "http://localhost:1/", "http://127.0.0.1:11434/", "http://[::1]:8080/", "http://10.9.8.7/",
        "http://[::ffff:10.9.8.7]/", "http://[fd01::5]/", "http://[2001:db8::2]:99/",
        "https://example.org:8443/", "http://11.0.0.1/"}) {
    CAPTURE(url);
    CHECK(list.Allows(To(url)));
    CHECK_FALSE(list.RefuseHost(To(url)).has_value());
  }
  for (const auto url :
       {"https://openai.com/", "https://api.openai.com.evil.org/", "https://xapi.openai.com/",
        "https://openai.azure.com/", "https://a.b.openai.azure.com/",
        "https://evilopenai.azure.com/", "http://127.0.0.1/", "http://127.0.0.2:11434/",
        "http://[::1]/", "http://11.0.0.1:81/", "https://example.org/", "http://[fc00::1]/"}) {
    CAPTURE(url);
    CHECK_FALSE(list.Allows(To(url)));
  }
}

TEST_CASE("an empty list allows nothing, a star everything but what is forbidden", "[http]") {
  CHECK_FALSE(HostList().Allows(To("http://localhost/")));
  CHECK_FALSE(HostList::Parse(" ").Allows(To("http://localhost/")));
  const HostList all = HostList::Parse("*");
  CHECK(all.Allows(To("http://anything.example/")));
  CHECK(all.Allows(To("http://1.2.3.4/")));
  CHECK_FALSE(all.Allows(To("http://169.254.169.254/")));
  CHECK_FALSE(HostList::Parse("169.254.0.0/16").Allows(To("http://169.254.169.254/")));
  CHECK(HostList::Parse("*:8443").Allows(To("https://a:8443/")));
  CHECK_FALSE(HostList::Parse("*:8443").Allows(To("https://a/")));
}

TEST_CASE("the default list has the providers and the own machine", "[http]") {
  const HostList list = HostList::Parse(kDefaultAllowedHosts);
  for (const auto url : {"https://api.openai.com/", "http://localhost:11434/", "http://[::1]/",
                         "https://api.voyageai.com/", "https://api.cohere.com/"}) {
    CHECK(list.Allows(To(url)));
  }
  CHECK_FALSE(list.Allows(To("https://example.com/")));
}

TEST_CASE("an entry that is no host is named", "[http]") {
  for (const auto bad : {"a b",    "http://host", "host/path", "a.*.b",     "*a.b",
                         "**",     "*.",          "host:",     "host:0",    "host:99999",
                         "host:x", "10.0.0.0/33",

                         "[::1",   "[::1]x",      "[host]",    "[]",        "b\u00fccher.example",
                         "127.1",  "2130706433",  "host.",     "user@host", "*.1"}) {
    CAPTURE(bad);
    CHECK_THROWS_MATCHES(HostList::Parse("localhost, " + std::string(bad)), ai::Error,
                         IsError(ErrorCode::kInvalidParameter,
                                 "invalid entry \"" + std::string(bad) + "\" in a list of hosts"));
  }
  CHECK_THROWS_MATCHES(HostList::Parse("a,,b"), ai::Error, IsError(ErrorCode::kInvalidParameter));
  std::string many;
  for (int i = 0; i < 1001; ++i) {
    many += "a,";
  }
  CHECK_THROWS_MATCHES(HostList::Parse(many), ai::Error, IsError(ErrorCode::kLimitExceeded));
}

TEST_CASE("a refusal names the setting and the host", "[http]") {
  const HostList list = HostList::Parse("api.openai.com");
  const auto refused = list.RefuseHost(To("https://evil.example:8443/v1/secret?key=secret"));
  REQUIRE(refused.has_value());
  CHECK(refused->failure_class == FailureClass::kConfiguration);
  CHECK(refused->message ==
        "request to https://evil.example:8443 was refused: host \"evil.example\" is not listed in "
        "ai.allowed_hosts");
  CHECK_THAT(list.RefuseHost(To("http://169.254.169.254/"))->message,
             ContainsSubstring("which ai.allowed_hosts cannot allow"));
}

TEST_CASE("an allowed name must not lead to a forbidden address", "[http]") {
  const HostList list = HostList::Parse("api.openai.com, *.example.com, *");
  for (const auto address : {"169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "0.0.0.0"}) {
    CAPTURE(address);
    const auto refused = list.RefuseAddress(To("https://api.openai.com/"), At(address));
    REQUIRE(refused.has_value());
    CHECK(refused->failure_class == FailureClass::kConfiguration);
    CHECK_THAT(refused->message, ContainsSubstring("host \"api.openai.com\" is at "));
    CHECK_THAT(refused->message, ContainsSubstring("ai.allowed_hosts cannot allow"));
  }
  CHECK_FALSE(list.RefuseAddress(To("https://api.openai.com/"), At("10.0.0.1")).has_value());
}

TEST_CASE("loopback needs a host that is loopback or listed by its name", "[http]") {
  const HostList list = HostList::Parse("localhost, 127.0.0.1, ollama.lan, *.example.com");
  CHECK_FALSE(list.RefuseAddress(To("http://localhost/"), At("::1")).has_value());
  CHECK_FALSE(list.RefuseAddress(To("http://127.0.0.1/"), At("127.0.0.1")).has_value());
  CHECK_FALSE(list.RefuseAddress(To("http://ollama.lan/"), At("127.0.0.1")).has_value());
  const auto refused = list.RefuseAddress(To("http://a.example.com/"), At("127.0.0.1"));
  REQUIRE(refused.has_value());
  CHECK_THAT(refused->message,
             ContainsSubstring("host \"a.example.com\" is at the loopback address 127.0.0.1 but is "
                               "not listed by its name in ai.allowed_hosts"));
}

TEST_CASE("a range also holds for names that resolve into it", "[http]") {
  const HostList list = HostList::Parse("10.0.0.0/8, 192.168.0.1");
  const Url url = To("http://models.corp/");
  CHECK_FALSE(list.Allows(url));
  CHECK_FALSE(list.RefuseHost(url).has_value());
  CHECK_FALSE(list.RefuseAddress(url, At("10.2.3.4")).has_value());
  const auto refused = list.RefuseAddress(url, At("11.2.3.4"));
  REQUIRE(refused.has_value());
  CHECK_THAT(refused->message,
             ContainsSubstring("neither host \"models.corp\" nor its address 11.2.3.4 is listed in "
                               "ai.allowed_hosts"));
  // A single address is no range.
  CHECK(HostList::Parse("192.168.0.1").RefuseHost(url).has_value());
  CHECK(list.RefuseHost(To("http://11.2.3.4/")).has_value());
}

TEST_CASE("a key goes only to the hosts it is bound to", "[http]") {
  const HostList bound = HostList::Parse("api.openai.com, 10.0.0.0/8");
  CHECK(KeyMayGoTo(bound, To("https://api.openai.com/v1/embeddings")));
  CHECK(KeyMayGoTo(bound, To("http://10.1.1.1/")));
  CHECK_FALSE(KeyMayGoTo(bound, To("https://api.openai.com.evil.org/")));
  CHECK_FALSE(KeyMayGoTo(bound, To("https://models.corp/")));
  CHECK_FALSE(KeyMayGoTo(HostList(), To("https://api.openai.com/")));
}
