#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace hypertape::problems {

/// The bytes of a file, unpacked where it is gzip: its first two bytes tell, not its name.
///
/// Stricter than zlib's own gzread, which drops without a word what follows the first packed part if that does not look
/// like another one: here a damaged second part, or anything else behind the first, is refused.
class ByteFile {
 public:
  /// Throws std::runtime_error if the file cannot be opened.
  explicit ByteFile(std::string file);
  ~ByteFile();
  ByteFile(const ByteFile&) = delete;
  ByteFile& operator=(const ByteFile&) = delete;

  /// Reads `count` bytes, fewer only at the end. Throws std::runtime_error, with the file's name and the byte, if the
  /// file cannot be read or is damaged gzip; the checksum of a gzip file is verified by the read that meets its end.
  std::size_t read(void* to, std::size_t count);

 private:
  bool refill();
  std::size_t unpack(unsigned char* to, std::size_t count);
  std::uint64_t position() const { return taken_ - stream_.avail_in; }

  std::string file_;
  std::ifstream in_;
  std::vector<unsigned char> buffer_;
  std::uint64_t taken_ = 0;  // bytes of the file that went through the buffer
  bool gzip_ = false;
  bool between_parts_ = true;  // of a gzip file, which may hold several
  z_stream stream_{};          // for a plain file, the place in the buffer only
};

}  // namespace hypertape::problems
