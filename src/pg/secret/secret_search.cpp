// Where in the text of a statement a secret may be: behind certain words, and where a function
// takes a key by its position. See secret.hpp.
//
// INVARIANT: plain C that allocates nothing. This runs while an error is being reported.
#include "pg/guard.hpp"
#include "pg/secret/secret.hpp"

namespace ai::pg {
namespace {

bool Begins(const char* text, std::string_view word) {
  return pg_strncasecmp(text, word.data(), word.size()) == 0;
}

/// Letters, digits and what else is in a name.
bool IsOfName(char c) {
  return isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

bool IsComment(const char* at) {
  return (at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*');
}

/// Behind the comment that begins here, or at the end of all; those with asterisks may have others
/// inside.
const char* SkipComment(const char* at) {
  if (*at == '-') {
    return at + strcspn(at, "\r\n");
  }
  int depth = 0;
  while (*at != '\0') {
    const bool begins = at[0] == '/' && at[1] == '*';
    const bool ends = at[0] == '*' && at[1] == '/';
    depth += begins ? 1 : ends ? -1 : 0;
    at += begins || ends ? 2 : 1;
    if (depth == 0) {
      break;
    }
  }
  return at;
}

/// Behind white space and comments.
const char* SkipBlanks(const char* at) {
  while (true) {
    if (isspace(static_cast<unsigned char>(*at)) != 0) {
      ++at;
    } else if (IsComment(at)) {
      at = SkipComment(at);
    } else {
      return at;
    }
  }
}

/// Behind the text in quotes that begins here; at the end of all if it does not end. Doubled quotes
/// make two texts of one, which is the same here.
const char* SkipQuoted(const char* at, bool has_escapes) {
  const char quote = *at;
  for (++at; *at != '\0'; ++at) {
    if (*at == quote) {
      return at + 1;
    }
    if (has_escapes && *at == '\\' && at[1] != '\0') {
      ++at;
    }
  }
  return at;
}

/// Behind $tag$ ... $tag$; behind the first dollar if that is none.
const char* SkipDollarQuoted(const char* at) {
  const char* tag_end = at + 1;
  while (IsOfName(*tag_end)) {
    ++tag_end;
  }
  if (*tag_end != '$' || isdigit(static_cast<unsigned char>(at[1])) != 0) {
    return at + 1;
  }
  const auto size = static_cast<std::size_t>(tag_end + 1 - at);
  for (const char* end = tag_end + 1; *end != '\0'; ++end) {
    if (strncmp(end, at, size) == 0) {
      return end + size;
    }
  }
  return at + strlen(at);
}

/// The comma or bracket behind the argument that begins here, or the end of all.
const char* EndOfArgument(const char* at) {
  int depth = 0;
  while (*at != '\0') {
    if (depth == 0 && (*at == ',' || *at == ')')) {
      return at;
    }
    depth += *at == '(' || *at == '[' ? 1 : 0;
    depth -= *at == ')' || *at == ']' ? 1 : 0;
    if (*at == '\'' || *at == '"') {
      at = SkipQuoted(at, (at[-1] == 'e' || at[-1] == 'E') && !IsOfName(at[-2]));
    } else if (IsComment(at)) {
      at = SkipComment(at);
    } else {
      at = *at == '$' ? SkipDollarQuoted(at) : at + 1;
    }
  }
  return at;
}

/// Whether an argument has a name; then all behind it have one, too.
bool IsNamed(const char* at) {
  while (IsOfName(*at)) {
    ++at;
  }
  at = SkipBlanks(at);
  return Begins(at, "=>") || Begins(at, ":=");
}

/// The key among the arguments that follow the name of a function, if it is there by its position
/// and may be written out: in quotes, or as a parameter.
const char* FindKey(const char* at, int position) {
  at = SkipBlanks(*at == '"' ? at + 1 : at);  // the name may be in quotes
  if (*at != '(') {
    return nullptr;
  }
  for (int argument = 0;; ++argument) {
    at = SkipBlanks(at + 1);
    if (IsNamed(at)) {
      return nullptr;
    }
    const char* end = EndOfArgument(at);
    if (argument == position) {
      const auto size = static_cast<std::size_t>(end - at);
      const bool is_written = memchr(at, '\'', size) != nullptr || memchr(at, '$', size) != nullptr;
      return is_written ? at : nullptr;
    }
    if (*end != ',') {
      return nullptr;
    }
    at = end;
  }
}

/// The text of the statement that EXECUTE is for, whose name begins here; null if there is none.
const char* PreparedText(const char* at) {
  char name[NAMEDATALEN] = {};
  const bool quoted = *at == '"';
  at += quoted ? 1 : 0;
  for (int size = 0; size < NAMEDATALEN - 1 && (quoted ? *at != '"' && *at != '\0' : IsOfName(*at));
       ++at) {
    name[size++] = quoted ? *at : static_cast<char>(pg_tolower(static_cast<unsigned char>(*at)));
  }
  const PreparedStatement* prepared = FetchPreparedStatement(name, false);
  return prepared == nullptr ? nullptr : prepared->plansource->query_string;
}

struct Function {
  std::string_view name;
  int position;  // of the key, or of headers, among its arguments, from 0
};

constexpr Function kFunctions[] = {{"openai_embed", 2},        {"openai_embed", 6},
                                   {"cohere_embed", 2},        {"voyageai_embed", 3},
                                   {"openai_list_models", 0},  {"openai_list_models", 2},
                                   {"openai_client_config", 5}};

constexpr std::string_view kWords[] = {"set_secret", "api_key", "extra_headers", "default_headers"};
constexpr std::string_view kHarmless = "_name";  // behind one of the words

/// How many calls are searched: each costs the length of its arguments. Everything after that is
/// hidden.
constexpr int kMaxCalls = 100;

}  // namespace

const char* SecretFollows(const char* statement) {
  if (statement == nullptr) {
    return nullptr;
  }
  // Every word we search for contains an underscore.
  const auto find = [&](const char* underscore, std::string_view word) {
    const auto before = static_cast<std::ptrdiff_t>(word.find('_'));
    return underscore - statement >= before && Begins(underscore - before, word)
               ? underscore - before + word.size()
               : nullptr;
  };
  int calls = 0;
  for (const char* at = strchr(statement, '_'); at != nullptr; at = strchr(at + 1, '_')) {
    for (const std::string_view word : kWords) {
      if (const char* behind = find(at, word); behind != nullptr && !Begins(behind, kHarmless)) {
        return behind;
      }
    }
    for (const Function& function : kFunctions) {
      if (const char* behind = find(at, function.name)) {
        const char* key = ++calls > kMaxCalls ? behind : FindKey(behind, function.position);
        if (key != nullptr) {
          return key;
        }
      }
    }
  }
  return nullptr;
}

const char* SecretInCurrentStatement() {
  constexpr std::string_view kExecute = "execute";
  const char* statement = debug_query_string;
  const char* secret = SecretFollows(statement);
  if (secret != nullptr || statement == nullptr) {
    return secret;
  }
  // Anywhere: behind a comment, EXPLAIN, CREATE TABLE ... AS or another statement.
  int looked_into = 0;
  const char* found = statement;
  while ((found = strcasestr(found, kExecute.data())) != nullptr) {
    const bool is_word = found == statement || !IsOfName(found[-1]);
    found = SkipBlanks(found + kExecute.size());
    const char* text = is_word ? PreparedText(found) : nullptr;
    if (text != nullptr && (++looked_into > kMaxCalls || SecretFollows(text) != nullptr)) {
      return found;
    }
  }
  return nullptr;
}

}  // namespace ai::pg
