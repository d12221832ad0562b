package webhook

import (
	"net/netip"
	"testing"
)

func TestRefusedAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"10.0.0.1": false, "172.16.0.1": false, "192.168.0.1": false, "100.64.0.1": false, "8.8.8.8": false,
		"2001:db8::1": false, "fd12:3456::1": false, "::ffff:10.0.0.1": false, "64:ff9b::a00:1": false,
		"64:ff9b:1::a00:1": false, "2002:a00:1::1": false,

		"127.0.0.1": true, "127.255.255.254": true, "::1": true, "::ffff:127.0.0.1": true, "::127.0.0.1": true, "64:ff9b::7f00:1": true,
		"0.0.0.0": true, "0.1.2.3": true, "::": true, "::ffff:0.0.0.0": true,
		"169.254.169.254": true, "169.254.0.1": true, "::ffff:169.254.169.254": true, "64:ff9b::a9fe:a9fe": true,
		"64:ff9b:1::a9fe:a9fe": true, "2002:a9fe:a9fe::1": true, "2002:7f00:1::": true,
		"fe80::1": true, "fe80::1%eth0": true, "febf::1": true, "fd00:ec2::254": true, "fd20:ce::254": true,
		"100.100.100.200": true, "168.63.129.16": true, "192.0.0.192": true,
		"224.0.0.1": true, "239.255.255.255": true, "255.255.255.255": true, "ff02::1": true,
	} {
		if got := refused(netip.MustParseAddr(address), false); got != want {
			t.Errorf("%s is refused: %v, want %v", address, got, want)
		}
	}
}

func TestLoopbackIsAllToBeAllowed(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1": false, "::1": false, "::ffff:127.0.0.1": false,
		"0.0.0.0": true, "169.254.169.254": true, "fe80::1": true,
	} {
		if got := refused(netip.MustParseAddr(address), true); got != want {
			t.Errorf("%s is refused: %v, want %v", address, got, want)
		}
	}
}
