// What a provider says about an error, whatever the form: OpenAI's and Google's objects, Ollama's
// string, Voyage's "detail", Cohere's "message", a page of HTML, plain text.
#pragma once

#include <string>
#include <string_view>

namespace ai::provider {

/// As the provider sent it: to be cleaned (words.hpp) before anybody sees it.
struct Complaint {
  std::string message = {};
  std::string code = {};     // "invalid_api_key"; may be empty
  std::string type = {};     // "invalid_request_error"; may be empty
  bool is_explicit = false;  // the reply is JSON and says that there is an error
};

Complaint ReadComplaint(std::string_view body);

}  // namespace ai::provider
