// Tests of core/http/url.hpp and ip_address.hpp: what is taken apart how, and what is refused.
#include "core/http/url.hpp"

#include <string>
#include <string_view>

#include "core/http/ip_address.hpp"
#include "unit/catch_bridge.hpp"

using ai::FailureClass;
using ai::http::IpAddress;
using ai::http::IsForbidden;
using ai::http::IsHostName;
using ai::http::IsLoopback;
using ai::http::ParseAddressRange;
using ai::http::ParseUrl;
using ai::http::Url;
using ai::http::UrlKind;
using ai::test::ContainsSubstring;
using std::string_view_literals::operator""sv;

TEST_CASE("a URL is taken apart", "[http]") {
  struct Row {
    std::string_view text;
    std::string_view endpoint;
    std::string_view host;
    int port;
    bool is_address;
  };
  const Row rows[] = {
      {"https://api.openai.com/v1/embeddings", "https://api.openai.com", "api.openai.com", 443,
       false},
      {"HTTPS://API.OpenAI.com:443", "https://api.openai.com", "api.openai.com", 443, false},
      {"http://localhost:11434/api/embed", "http://localhost:11434", "localhost", 11434, false},
      {"http://127.0.0.1", "http://127.0.0.1", "127.0.0.1", 80, true},
      {"http://[::1]:8080/x", "http://[::1]:8080", "::1", 8080, true},
      {"http://[0:0::1]/", "http://[::1]", "::1", 80, true},
      {"http://[::ffff:10.0.0.1]/", "http://10.0.0.1", "10.0.0.1", 80, true},
      {"https://x.openai.azure.com/o?api-version=1", "https://x.openai.azure.com",
       "x.openai.azure.com", 443, false},
      {"http://xn--bcher-kva.example/", "http://xn--bcher-kva.example", "xn--bcher-kva.example", 80,
       false},
      {"http://my_host:8080", "http://my_host:8080", "my_host", 8080, false},
      {"http://host?x=a@b", "http://host", "host", 80, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto url = ParseUrl(row.text);
    REQUIRE(url.ok());
    CHECK(url->Endpoint() == row.endpoint);
    CHECK(url->host == row.host);
    CHECK(url->port == row.port);
    CHECK(url->address.has_value() == row.is_address);
    CHECK(ParseUrl(url->text).ok());
  }
}

TEST_CASE("a URL that could be understood in two ways is refused", "[http]") {
  struct Row {
    std::string_view text;
    const char* message;
  };
  const Row rows[] = {
      {"", "does not begin with http"},
      {"api.openai.com", "does not begin with http"},
      {"ftp://host/", "does not begin with http"},
      {"file:///etc/passwd", "does not begin with http"},
      {"http:/host/", "does not begin with http"},
      {"http:host", "does not begin with http"},
      {" http://host", "contains a blank"},
      {"http://host/a b", "contains a blank"},
      {"http://host/\r\nX: 1", "control character"},
      {"http://host\0.evil.com/"sv, "control character"},
      {"http://host/\x7f", "control character"},
      {"http://b\xC3\xBC"
       "cher.example/",
       "not ASCII"},
      {"http://host\\@evil.com/", "backslash"},
      {"http:///path", "no host"},
      {"http://?x", "no host"},
      {"http://user@host/", "name of a user"},
      {"http://user:secret@host/", "name of a user"},
      {"http://host#@evil.com/", "fragment"},
      {"http://host/#x", "fragment"},
      {"http://%31%32%37.0.0.1/", "not a host name"},
      {"http://ho$t/", "not a host name"},
      {"http://[fe80::1%25eth0]/", "not a host name"},
      {"http://host:0/", "malformed"},
      {"http://host:65536/", "malformed"},
      {"http://host:8a/", "malformed"},
      {"http://a:b:c/", "malformed"},
      {"http://[::1/", "malformed"},
      {"http://[::zz]/", "malformed"},
      {"http://[]/", "malformed"},
      {"http://host./", "malformed"},
      {"http://a..b/", "malformed"},
      {"http://-a.b/", "malformed"},
      {"http://127.0.0.1.5/", "malformed"},
      {"http://256.0.0.1/", "malformed"},
      {"http://a.0x7f/", "malformed"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto url = ParseUrl(row.text);
    REQUIRE_FALSE(url.ok());
    CHECK(url.failure().failure_class == FailureClass::kConfiguration);
    CHECK_THAT(url.failure().message, ContainsSubstring(row.message));
    CHECK(url.failure().message.find("secret") == std::string::npos);
  }
  const std::string longest = "http://host/" + std::string(10000, 'a');
  CHECK_THAT(ParseUrl(longest).failure().message, ContainsSubstring("too long"));
}

TEST_CASE("numbers that resolvers take for addresses are refused", "[http]") {
  for (const auto text : {"http://2130706433/", "http://0x7f.1/", "http://127.1/", "http://0177.1/",
                          "http://0x7f000001/", "http://127.0.1/", "http://0177.0.0.1:80/",
                          "http://127.0.0.01/v1", "http://0X7F000001:8080/v1"}) {
    CAPTURE(text);
    CHECK(ParseUrl(text).failure().message == "invalid URL: its host or port is malformed");
  }
}

TEST_CASE("a base URL has no query", "[http]") {
  REQUIRE(ParseUrl("https://host/v1", UrlKind::kBase).ok());
  const auto url = ParseUrl("https://host/v1?key=secret", UrlKind::kBase);
  REQUIRE(url.failure().message == "invalid URL: a base URL must not have a query");
  REQUIRE(ParseUrl("https://host/v1?key=secret").ok());
}

TEST_CASE("names of hosts", "[http]") {
  for (const auto good : {"a", "a.b", "api.openai.com", "my_host", "a-b.c1", "1.a", "0xfg"}) {
    CAPTURE(good);
    CHECK(IsHostName(good));
  }
  for (const auto bad : {"", ".", "a.", ".a", "A", "a b", "1", "a.1", "a.0x1f", "0x", "-a", "a-"}) {
    CAPTURE(bad);
    CHECK_FALSE(IsHostName(bad));
  }
  CHECK_FALSE(IsHostName(std::string(64, 'a')));
  CHECK_FALSE(IsHostName(std::string(300, 'a')));
}

TEST_CASE("addresses nobody may reach, and loopback", "[http]") {
  for (const auto text : {"169.254.0.1",
                          "169.254.169.254",
                          "::ffff:169.254.169.254",
                          "64:ff9b::169.254.169.254",
                          "::169.254.169.254",
                          "2002:a9fe:a9fe::1",
                          "fe80::1",
                          "febf::1",
                          "fd00:ec2::254",
                          "fd20:ce::254",
                          "100.100.100.200",
                          "168.63.129.16",
                          "0.0.0.0",
                          "0.1.2.3",
                          "::",
                          "224.0.0.1",
                          "239.255.255.255",
                          "ff02::1",
                          "255.255.255.255",
                          "::ffff:0.0.0.0"}) {
    CAPTURE(text);
    const auto address = IpAddress::Parse(text);
    REQUIRE(address.has_value());
    CHECK(IsForbidden(*address));
    CHECK_FALSE(IsLoopback(*address));
  }
  for (const auto text : {"127.0.0.1", "127.255.0.1", "::1", "::ffff:127.0.0.1", "::127.0.0.1",
                          "64:ff9b::7f00:1", "2002:7f00:1::"}) {
    CAPTURE(text);
    CHECK(IsLoopback(IpAddress::Parse(text).value()));
    CHECK_FALSE(IsForbidden(IpAddress::Parse(text).value()));
  }
  for (const auto text : {"10.0.0.1", "169.253.255.255", "169.255.0.0", "1.1.1.1", "fec0::1",
                          "2001:db8::1", "fd00:ec2::255", "100.100.100.201", "223.255.255.255"}) {
    CAPTURE(text);
    CHECK_FALSE(IsForbidden(IpAddress::Parse(text).value()));
    CHECK_FALSE(IsLoopback(IpAddress::Parse(text).value()));
  }
}

TEST_CASE("two ways to write a base URL are one address", "[http]") {
  for (const auto text : {"https://API.example.com/v1", "https://api.example.com:443/v1",
                          "HTTPS://api.example.com/v1/", "https://api.example.com/v1//"}) {
    CAPTURE(text);
    CHECK(ParseUrl(text, UrlKind::kBase)->Address() == "https://api.example.com/v1");
  }
  CHECK(ParseUrl("http://[::1]:80", UrlKind::kBase)->Address() == "http://[::1]");
  CHECK(ParseUrl("http://localhost:11434/", UrlKind::kBase)->Address() == "http://localhost:11434");
}

TEST_CASE("addresses and ranges are read and written", "[http]") {
  CHECK(IpAddress::Parse("10.1.2.3")->ToText() == "10.1.2.3");
  CHECK(IpAddress::Parse("::ffff:10.1.2.3")->ToText() == "10.1.2.3");
  CHECK(IpAddress::Parse("2001:DB8:0::1")->ToText() == "2001:db8::1");
  for (const auto bad : {"", "10.1.2", "0x7f.1", "1.2.3.4.5", "::1%lo", "[::1]", "1.2.3.256"}) {
    CAPTURE(bad);
    CHECK_FALSE(IpAddress::Parse(bad).has_value());
  }
  const auto contains = [](std::string_view range, std::string_view address) {
    return ParseAddressRange(range).value().Contains(IpAddress::Parse(address).value());
  };
  CHECK(contains("10.0.0.0/8", "10.255.0.1"));
  CHECK_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  CHECK(contains("10.0.0.0/9", "10.127.0.1"));
  CHECK_FALSE(contains("10.0.0.0/9", "10.128.0.1"));
  CHECK(contains("0.0.0.0/0", "1.2.3.4"));
  CHECK_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
  CHECK(contains("::/0", "1.2.3.4"));
  CHECK(contains("fd00::/8", "fdff::1"));
  CHECK(contains("10.1.2.3", "10.1.2.3"));
  CHECK_FALSE(contains("10.1.2.3", "10.1.2.2"));
  for (const auto bad :
       {"10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "/8"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseAddressRange(bad).has_value());
  }
}
