// Any text as statements of NX-OS (import_check.hh).
#include "tests/fuzz/import_check.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::import;
    check_import(std::string(reinterpret_cast<const char*>(data), size), Source::nxos);
    return 0;
}
