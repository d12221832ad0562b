package nodeagent

import (
	"net"
	"net/netip"
	"testing"
)

func TestAddressesAreUniqueAndReused(t *testing.T) {
	prefix := netip.MustParsePrefix("127.78.9.0/30") // .1 and .2 are usable
	a := newAddresses(prefix)
	first, second := mustAllocate(t, a), mustAllocate(t, a)
	if first.String() != "127.78.9.1" || second.String() != "127.78.9.2" {
		t.Fatalf("got %s and %s", first, second)
	}
	if addr, err := a.allocate(); err == nil {
		t.Fatalf("a full range gave %s", addr)
	}
	other := newAddresses(prefix) // another cluster on this machine
	if addr, err := other.allocate(); err == nil {
		t.Fatalf("another allocator was given %s too", addr)
	}
	a.release(first)
	if again := mustAllocate(t, other); again != first {
		t.Fatalf("got %s, want the released %s", again, first)
	}
}

func TestAddressesSkipOneThatAProgramListensOn(t *testing.T) {
	listener, err := net.Listen("tcp", "127.78.10.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	a := newAddresses(netip.MustParsePrefix("127.78.10.0/29"))
	if got := mustAllocate(t, a); got.String() != "127.78.10.2" {
		t.Errorf("got %s, want 127.78.10.2", got)
	}
}

func mustAllocate(t *testing.T, a *addresses) netip.Addr {
	t.Helper()
	addr, err := a.allocate()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.release(addr) })
	return addr
}
