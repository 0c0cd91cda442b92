// Reads what matches exactly one character: escapes and character classes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/text/python_regex_class.hpp"
#include "core/text/python_regex_cursor.hpp"
#include "core/text/python_regex_flags.hpp"

namespace ai::text::python_regex {

/// \d, \s, \w and their opposites.
std::optional<Category> CategoryOf(char32_t letter);

/// The escapes that mean one character wherever they stand. token is the backslash and the letter.
char32_t ParseCharacterEscape(Cursor& cursor, const Token& token);

/// After the opening bracket.
CharacterClass ParseClass(Cursor& cursor, const Flags& flags);

/// INVARIANT: digits is not empty, holds digits of the base only, and the value fits.
std::uint32_t ValueOf(const std::string& digits, std::uint32_t base);

}  // namespace ai::text::python_regex
