#include "worker/vectorizer/vector_spill.hpp"

#include "pg/guard.hpp"
#include "worker/statements/step.hpp"

namespace ai::worker {

namespace {

void Check(bool success, const char* what) {
  if (!success) {
    pg::Call([&] {
      ereport(ERROR, errcode_for_file_access(),
              errmsg("could not %s temporary file for vectors: %m", what));
    });
  }
}

}  // namespace

VectorSpill::VectorSpill(std::size_t dimensions)
    : dimensions_(dimensions), file_(pg::Call([] { return OpenTemporaryFile(true); })) {}

VectorSpill::~VectorSpill() {
  FileClose(file_);
}

pipeline::Step<std::size_t> VectorSpill::Append(std::span<const float> vector) {
  return RunStep([&] {
    const auto size = static_cast<int>(bytes());
    const auto offset = static_cast<off_t>(count_ * bytes());
    errno = 0;
    const auto written = pg::Call([&] {
      return FileWrite(file_, const_cast<char*>(reinterpret_cast<const char*>(vector.data())), size,
                       offset, WAIT_EVENT_BUFFILE_WRITE);
    });
    if (written >= 0 && written != size && errno == 0) {
      errno = ENOSPC;
    }
    Check(written == size, "write to");
    return count_++;
  });
}

std::span<const float> VectorSpill::Read(std::size_t number, std::vector<float>& buffer) const {
  buffer.resize(dimensions_);
  const auto size = static_cast<int>(bytes());
  const auto read = pg::Call([&] {
    return FileRead(file_, reinterpret_cast<char*>(buffer.data()), size,
                    static_cast<off_t>(number * bytes()), WAIT_EVENT_BUFFILE_READ);
  });
  Check(read == size, "read");
  return buffer;
}

}  // namespace ai::worker
