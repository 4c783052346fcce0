// A port by sockets on an interface of the kernel: opens, follows and releases it, for every kind of socket.
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

    // The interface is there; frames count from here on. On an error nothing stays open.
    virtual std::string open_sockets() = 0;
    virtual void close_sockets() = 0;
    // The sockets' losses since they were opened.
    virtual PortAccount count() const = 0;
    // Another cause that holds the link down.
    virtual LinkCause obstacle() const { return LinkCause::none; }

    // For the owner: as control read it last.
    std::uint32_t interface_mtu() const { return mtu_.load(std::memory_order_relaxed); }

  private:
    std::string open_interface();

    MacAddress mac_;
    std::atomic<std::uint32_t> mtu_{0};
    PortAccount before_;  // by sockets that are closed
};

}  // namespace sluice
