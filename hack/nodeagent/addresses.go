package nodeagent

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
)

// podRange holds the pods' addresses. On Linux all of 127.0.0.0/8 is local without further set-up.
var podRange = netip.MustParsePrefix("127.77.0.0/16")

// addresses gives out pod addresses. An abstract Unix socket of its name claims an address on the whole machine, and
// the kernel releases the socket with the process. So two clusters on one machine do not collide, and a killed one
// leaves nothing behind.
type addresses struct {
	prefix netip.Prefix
	// busy reports whether another program listens on an address.
	busy func(netip.Addr) bool

	mu     sync.Mutex
	next   netip.Addr
	claims map[netip.Addr]net.Listener
}

func newAddresses(prefix netip.Prefix) *addresses {
	return &addresses{prefix: prefix, busy: hasListener, claims: map[netip.Addr]net.Listener{}}
}

// allocate claims the next free address. An address that was released comes last again, so that a late client of an
// ended pod does not reach another pod.
func (a *addresses) allocate() (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range 1 << (32 - a.prefix.Bits()) {
		addr := a.next
		if !a.prefix.Contains(addr) {
			addr = a.prefix.Masked().Addr().Next() // the first address of a range names the network
		}
		a.next = addr.Next()
		if _, taken := a.claims[addr]; taken || !a.prefix.Contains(a.next) || a.busy(addr) {
			continue
		}
		claim, err := net.Listen("unix", "@nodeagent/"+addr.String())
		if err != nil {
			continue // it belongs to another cluster
		}
		a.claims[addr] = claim
		return addr, nil
	}
	return netip.Addr{}, errors.New("no free address in " + a.prefix.String())
}

func (a *addresses) release(addr netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if claim, ok := a.claims[addr]; ok {
		_ = claim.Close()
		delete(a.claims, addr)
	}
}

// hasListener looks the address up in the kernel's table of TCP sockets; see proc_net_tcp.txt of the kernel.
func hasListener(addr netip.Addr) bool {
	table, err := os.Open("/proc/net/tcp")
	if err != nil {
		return false
	}
	defer table.Close()
	const listening = "0A"
	for lines := bufio.NewScanner(table); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || fields[3] != listening {
			continue
		}
		local, _, _ := strings.Cut(fields[1], ":")
		if found, err := parseKernelAddress(local); err == nil && found == addr {
			return true
		}
	}
	return false
}

// parseKernelAddress reads an IPv4 address as /proc/net/tcp has it on a little-endian machine: 0100007F is 127.0.0.1.
func parseKernelAddress(hex string) (netip.Addr, error) {
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("address %q: %w", hex, err)
	}
	return netip.AddrFrom4([4]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}), nil
}
