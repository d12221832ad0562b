package webhook

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
)

// podAddresses are the addresses of a pod with one interface.
func podAddresses() ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("fd12:3456::3")}, nil
}

func TestTheMachinesInterfacesAreItsOwn(t *testing.T) {
	addresses, err := interfaceAddresses()
	if err != nil || !slices.Contains(addresses, netip.MustParseAddr("127.0.0.1")) {
		t.Errorf("the addresses are %v, %v", addresses, err)
	}
}

func TestRefusedAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"10.0.0.1": false, "172.16.0.1": false, "192.168.0.1": false, "100.64.0.1": false, "8.8.8.8": false,
		"2001:db8::1": false, "fd12:3456::1": false, "::ffff:10.0.0.1": false, "64:ff9b::a00:1": false,
		"64:ff9b:1::a00:1": false, "2002:a00:1::1": false, "::ffff:0:10.0.0.1": false, "2001:4860:4860::8888": false,
		"64:ff9b:1:a00:0:100::": false,

		"127.0.0.1": true, "127.255.255.254": true, "::1": true, "::ffff:127.0.0.1": true, "::127.0.0.1": true, "64:ff9b::7f00:1": true,
		"0.0.0.0": true, "0.1.2.3": true, "::": true, "::ffff:0.0.0.0": true,
		"169.254.169.254": true, "169.254.0.1": true, "::ffff:169.254.169.254": true, "64:ff9b::a9fe:a9fe": true,
		"64:ff9b:1::a9fe:a9fe": true, "2002:a9fe:a9fe::1": true, "2002:7f00:1::": true,
		"::ffff:0:169.254.169.254": true, "::ffff:0:127.0.0.1": true,
		"64:ff9b:1:a9fe:a9:fe00::": true, "64:ff9b:1:a9:fe:a9fe::": true, "64:ff9b:1::a9:fea9:fe00:0": true,
		"64:ff9b:1:7f00:0:100::": true,
		"2001::1":                true, "2001:0:4136:e378:8000:63bf:3fff:fdd2": true,
		"fe80::1": true, "fe80::1%eth0": true, "febf::1": true,
		"fd00:ec2::254": true, "fd00:ec2::23": true, "fd00:42::42": true, "fd00:a9fe:a9fe::1": true, "fd20:ce::254": true,
		"100.100.100.200": true, "168.63.129.16": true, "192.0.0.192": true,
		"224.0.0.1": true, "239.255.255.255": true, "255.255.255.255": true, "ff02::1": true,

		"10.1.2.3": true, "fd12:3456::3": true, "::ffff:10.1.2.3": true, "64:ff9b::a01:203": true, "10.1.2.4": false,
	} {
		g := guard{own: podAddresses}
		if got := g.refuses(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is refused: %v, want %v", address, got, want)
		}
	}
}

func TestLoopbackIsAllToBeAllowed(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1": false, "::1": false, "::ffff:127.0.0.1": false, "10.1.2.3": false,
		"0.0.0.0": true, "169.254.169.254": true, "fe80::1": true,
	} {
		g := guard{allowLoopback: true, own: podAddresses}
		if got := g.refuses(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is refused: %v, want %v", address, got, want)
		}
	}
}

func TestTheGuardFailsClosed(t *testing.T) {
	g := guard{own: func() ([]netip.Addr, error) { return nil, errors.New("no interfaces") }}
	if !g.refuses(netip.MustParseAddr("8.8.8.8")) {
		t.Error("an address is let through that may be the pod's own")
	}
	for _, address := range []string{"", "nonsense", "8.8.8.8", "host:80"} {
		if guard.control(guard{own: podAddresses}, t.Context(), "tcp", address, nil) == nil {
			t.Errorf("%q is let through", address)
		}
	}
}
