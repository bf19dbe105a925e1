#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hypertape::drivers {

/// Rows under a header; the first column names its row. Columns of numbers are set to the right.
struct Table {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// In columns, on standard output.
void print(const Table& table);

/// What one page tells of an experiment.
struct Report {
  std::string title;
  std::string summary;  ///< plain text; an empty line begins a new paragraph
  std::vector<Table> tables;
  std::vector<std::string> figures;                        ///< names of figures that draw() made in the same folder
  std::vector<std::pair<std::string, std::string>> facts;  ///< command line, seed, versions, machine, date
};

/// Writes folder/report.html, whole or not at all: one page that needs no other file, the figures in it. A figure that
/// was not drawn is said to be missing. A report.html that is not such a report is left alone: std::runtime_error.
void write_report(const Report& report, const std::string& folder);

/// Processor, cores, memory, compiler, versions of the library and of its parts, date in UTC: what results depend on.
std::vector<std::pair<std::string, std::string>> machine_facts();

}  // namespace hypertape::drivers
