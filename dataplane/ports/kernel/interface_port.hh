// A port by sockets of our own on an interface of the kernel: the interface's life, for every kind of socket.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "dataplane/ports/device_port.hh"

namespace sluice {

class InterfacePort : public DevicePort {
  public:
    PortAccount account() const final;
    void poll_link() final;
    void release() final;
    std::string reopen() final;
    std::string close() override;
    // As it was when the interface was taken; the port leaves it alone.
    MacAddress mac() const final { return mac_; }

  protected:
    explicit InterfacePort(DeviceSpec spec);
    // Takes the interface of the configured name; an error's text, or empty.
    std::string open();

    // The interface is there. The first frame that counts comes after this. On an error nothing stays open.
    virtual std::string open_sockets() = 0;
    virtual void close_sockets() = 0;
    // Frames that the sockets had no room for, and the like, since they were opened.
    virtual PortAccount count() const = 0;
    // What holds the link down though the interface is up.
    virtual LinkCause obstacle() const { return LinkCause::none; }

    // For the owner: as control has seen it last.
    std::uint32_t interface_mtu() const { return mtu_.load(std::memory_order_relaxed); }

  private:
    std::string open_interface();

    MacAddress mac_;
    std::atomic<std::uint32_t> mtu_{0};
    PortAccount before_;  // by sockets that are closed
};

}  // namespace sluice
