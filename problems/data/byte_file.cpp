#include "problems/data/byte_file.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "hypertape/core/require.hpp"

namespace hypertape::problems {

ByteFile::ByteFile(std::string file) : file_(std::move(file)), in_(file_, std::ios::binary), buffer_(1 << 16) {
  if (!in_) throw std::runtime_error(text(file_, ": cannot be opened"));
  refill();
  gzip_ = stream_.avail_in >= 2 && buffer_[0] == 0x1f && buffer_[1] == 0x8b;
  constexpr int gzip_only = 15 + 16;
  if (gzip_ && inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc();
}

ByteFile::~ByteFile() {
  if (gzip_) inflateEnd(&stream_);
}

bool ByteFile::refill() {
  in_.read(reinterpret_cast<char*>(buffer_.data()), static_cast<std::streamsize>(buffer_.size()));
  if (in_.bad()) throw std::runtime_error(text(file_, ": cannot be read from byte ", taken_, ", expected a file"));
  stream_.next_in = buffer_.data();
  stream_.avail_in = static_cast<uInt>(in_.gcount());
  taken_ += stream_.avail_in;
  return stream_.avail_in > 0;
}

std::size_t ByteFile::read(void* to, std::size_t count) {
  auto* const out = static_cast<unsigned char*>(to);
  std::size_t done = 0;
  while (done < count && (stream_.avail_in > 0 || refill() || !between_parts_)) {
    const std::size_t piece = std::min<std::size_t>(count - done, 1 << 30);
    if (gzip_) {
      done += unpack(out + done, piece);
    } else {
      const uInt ready = std::min(static_cast<uInt>(piece), stream_.avail_in);
      std::memcpy(out + done, stream_.next_in, ready);
      stream_.next_in += ready;
      stream_.avail_in -= ready;
      done += ready;
    }
  }
  return done;
}

std::size_t ByteFile::unpack(unsigned char* to, std::size_t count) {
  if (stream_.avail_in == 0)
    throw std::runtime_error(text(file_, ": gzip data end early at byte ", position(), ", expected more of them"));
  if (between_parts_) inflateReset(&stream_);
  stream_.next_out = to;
  stream_.avail_out = static_cast<uInt>(count);
  const int result = inflate(&stream_, Z_NO_FLUSH);
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result != Z_OK && result != Z_STREAM_END)
    throw std::runtime_error(text(file_, ": damaged gzip data near byte ", position(), " (",
                                  stream_.msg ? stream_.msg : "no reason given", "), expected a whole gzip file"));
  between_parts_ = result == Z_STREAM_END;
  return count - stream_.avail_out;
}

}  // namespace hypertape::problems
