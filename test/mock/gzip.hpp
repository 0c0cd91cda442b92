// gzip.hpp: a body compressed as Content-Encoding: gzip. Never uncompresses: requests come plain.
#pragma once

#include <string>
#include <string_view>

namespace ai::mock {

std::string Gzip(std::string_view plain);

}  // namespace ai::mock
