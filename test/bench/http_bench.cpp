// How much of a bare curl program's speed the transport keeps: 2,000 requests of 100 texts for
// vectors of 1,536 dimensions in base64, 16 in flight, against the mock provider. The bare program
// is in this file and throws the answers away; the transport hands them over whole and gets their
// memory back, as from a worker. Runs of the two alternate, so that both meet the same machine.
// Starts the mock provider itself.
#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench.hpp"
#include "core/http/curl_transport.hpp"
#include "unit/http_mock.hpp"

namespace {

using ai::bench::ThreadSeconds;

constexpr std::size_t kRequests = 2000;
constexpr std::size_t kInFlight = 16;
constexpr std::size_t kTexts = 100;
constexpr std::size_t kRuns = 5;
constexpr double kGoal = 0.9;

std::string RequestBody() {
  std::string body = R"({"model": "mock-1536", "encoding_format": "base64", "input": [)";
  for (std::size_t i = 0; i < kTexts; ++i) {
    body += (i == 0 ? "\"text " : ", \"text ") + std::to_string(i) + "\"";
  }
  return body + "]}";
}

struct Run {
  double seconds = 0;            // on the wall
  double processor_seconds = 0;  // of this thread
  std::size_t bytes = 0;
};

template <typename Body>
Run Measure(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  const double processor_start = ThreadSeconds();
  Run run;
  run.bytes = body();
  run.processor_seconds = ThreadSeconds() - processor_start;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

ai::http::Request NextRequest(const std::string& url, const std::string& body) {
  ai::http::Request request;
  request.url = url;
  request.body = body;
  request.headers.Add("Content-Type", "application/json");
  return request;
}

std::size_t WithTransport(const std::string& url, const std::string& body) {
  ai::http::TransportOptions options;
  options.allowed_hosts = ai::http::HostList::Parse("127.0.0.1");
  ai::http::CurlTransport transport(std::move(options));
  std::size_t bytes = 0;
  std::size_t submitted = 0;
  std::size_t finished = 0;
  while (finished < kRequests) {
    while (submitted < kRequests && transport.in_flight() < kInFlight) {
      transport.Submit(NextRequest(url, body));
      ++submitted;
    }
    transport.Poll(std::chrono::seconds(1));
    for (ai::http::Completion& completion : transport.Collect()) {
      std::string& answer = completion.result.value().body;
      bytes += answer.size();
      transport.Recycle(std::move(answer));
      ++finished;
    }
  }
  return bytes;
}

std::size_t Discard(char*, std::size_t size, std::size_t count, void* bytes) {
  *static_cast<std::size_t*>(bytes) += size * count;
  return size * count;
}

struct BareDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using BareEasy = std::unique_ptr<CURL, BareDeleter>;

void SetUp(CURL* easy, const std::string& url, const std::string& body, curl_slist* headers,
           std::size_t* bytes) {
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 128L << 10);  // as large as the transport's
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, Discard);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, bytes);
}

/// Counts the transfers that ended and starts each handle again as long as there is work.
void Restart(CURLM* multi, std::size_t& started, std::size_t& finished) {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi, &left)) {
    if (message->data.result != CURLE_OK) {
      throw std::runtime_error(curl_easy_strerror(message->data.result));
    }
    CURL* const easy = message->easy_handle;
    curl_multi_remove_handle(multi, easy);
    ++finished;
    if (started < kRequests) {
      curl_multi_add_handle(multi, easy);
      ++started;
    }
  }
}

std::size_t WithBareCurl(const std::string& url, const std::string& body) {
  std::size_t bytes = 0;
  const std::unique_ptr<curl_slist, BareDeleter> headers(
      curl_slist_append(nullptr, "Content-Type: application/json"));
  const std::unique_ptr<CURLM, CURLMcode (*)(CURLM*)> multi(curl_multi_init(), curl_multi_cleanup);
  std::vector<BareEasy> handles(kInFlight);
  for (BareEasy& easy : handles) {
    easy.reset(curl_easy_init());
    SetUp(easy.get(), url, body, headers.get(), &bytes);
    curl_multi_add_handle(multi.get(), easy.get());
  }
  std::size_t started = kInFlight;
  std::size_t finished = 0;
  while (finished < kRequests) {
    int running = 0;
    curl_multi_perform(multi.get(), &running);
    Restart(multi.get(), started, finished);
    if (finished < kRequests) {
      curl_multi_poll(multi.get(), nullptr, 0, 1000, nullptr);
    }
  }
  for (const BareEasy& easy : handles) {
    curl_multi_remove_handle(multi.get(), easy.get());
  }
  return bytes;
}

double Median(std::vector<Run> runs, double Run::*of) {
  std::sort(runs.begin(), runs.end(), [of](const Run& a, const Run& b) { return a.*of < b.*of; });
  return runs[runs.size() / 2].*of;
}

void Compare(ai::bench::Report& report, const std::string& name, const std::string& url,
             const std::string& body, double goal) {
  std::vector<Run> ours;
  std::vector<Run> bare;
  for (std::size_t i = 0; i < kRuns; ++i) {
    bare.push_back(Measure([&] { return WithBareCurl(url, body); }));
    ours.push_back(Measure([&] { return WithTransport(url, body); }));
    if (ours.back().bytes != bare.back().bytes) {
      throw std::runtime_error("the two did not receive the same");
    }
  }
  const auto bytes = static_cast<double>(ours.front().bytes);
  report.Rate(name + ", bare curl", bytes / Median(bare, &Run::seconds), 0);
  report.Rate(name + ", transport", bytes / Median(ours, &Run::seconds), 0);
  report.AtLeast(name + ", transport to bare curl",
                 Median(bare, &Run::seconds) / Median(ours, &Run::seconds), "times", goal);
  report.AtLeast(name + ", the same in processor time",
                 Median(bare, &Run::processor_seconds) / Median(ours, &Run::processor_seconds),
                 "times", 0);
}

/// A reply as large as the real one that costs the mock nothing: the client is what is measured.
std::string CannedReply() {
  return R"({"body": ")" + std::string(kTexts * 1536 * 4 * 4 / 3, 'A') + "\"}";
}

}  // namespace

int main() {
  try {
    ai::bench::Report report(ai::bench::MemcpyRate(std::string(std::size_t{1} << 20, 'a'), 7));
    ai::test::MockProvider mock;
    const std::string url = mock.Url("/v1/embeddings");
    const std::string body = RequestBody();
    Compare(report, "2,000 requests", url, body, kGoal);
    mock.Rules(CannedReply());
    Compare(report, "2,000 canned replies", url, body, 0);
    return report.status();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "http_bench: %s\n", error.what());
    return 1;
  }
}
