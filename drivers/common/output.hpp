#pragma once

#include <string>

namespace hypertape::drivers {

/// Writes a JSON document that this program makes to `path`, whole or not at all. A file that is there already is
/// replaced only if it is empty or JSON of the same kind (an array or object whose first object has the member `mark`);
/// anything else may be the user's file: refused with std::runtime_error.
void write_json(const std::string& path, const std::string& json, const std::string& mark);

/// The same for a table whose first line names its columns: a file that is there already is replaced only if it is
/// empty or its first column has the same name.
void write_csv(const std::string& path, const std::string& table);

/// The same for any text that starts with `mark`.
void write_text(const std::string& path, const std::string& text, const std::string& mark);

}  // namespace hypertape::drivers
