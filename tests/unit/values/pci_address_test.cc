#include "lib/values/pci_address.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pci_address_test {
namespace {

void full(const char* wanted, const char* text) {
    const auto found = sluice::full_pci_address(text);
    STRCMP_EQUAL_TEXT(wanted, found ? found->c_str() : "", text);
}

}  // namespace

TEST_GROUP(PciAddress){};

TEST(PciAddress, refusesWhatIsNone) {
    for (const char* text : {"",
                             ":",
                             ".",
                             "03",
                             "03:00",
                             "03.0",
                             "03:00.",
                             ":00.0",
                             "03::0",
                             "03:00.8",
                             "03:20.0",
                             "100:00.0",
                             "10000:03:00.0",
                             "0:0:0:0.0",
                             "03:00.0 ",
                             " 03:00.0",
                             "03:00.0,a=b",
                             "-3:00.0",
                             "0x3:00.0",
                             "eth0",
                             "net_null0",
                             "net_pcap0,iface=a:b.c",
                             "g3:00.0",
                             "03:00.99999999999999999999",
                             "99999999999:03:00.0"})
        full("", text);
}

TEST(PciAddress, writesOneInFull) {
    full("0000:03:00.0", "03:00.0");
    full("0000:03:00.0", "3:0.0");
    full("0000:03:00.0", "0000:03:00.0");
    full("0000:3b:1f.7", "3B:1F.7");
    full("ffff:ff:00.1", "ffff:ff:00.1");
    full("0001:00:02.3", "1:0:2.3");
}

}  // namespace sluice::pci_address_test
