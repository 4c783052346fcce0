// Any text as SONiC's or NVUE's configuration, or another switch's (import_check.hh). The first byte says by
// which reader, or by what it is.
#include <array>

#include "tests/fuzz/import_check.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::import;
    if (size == 0) return 0;
    const std::array<std::optional<Source>, 3> readers{Source::sonic, Source::cumulus, std::nullopt};
    check_import(std::string(reinterpret_cast<const char*>(data) + 1, size - 1),
                 readers[data[0] % readers.size()]);
    return 0;
}
