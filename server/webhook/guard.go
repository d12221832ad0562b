package webhook

import (
	"context"
	"errors"
	"net/netip"
	"syscall"
)

// errRefusedAddress is that of an address that is not to be called.
var errRefusedAddress = errors.New("the address may not be called")

// refusedPrefixes are addresses that lead to no service of anybody's: the pod itself, the link, and the metadata services
// of clouds, which give out credentials to whoever can reach them.
var refusedPrefixes = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),          // this host
	netip.MustParsePrefix("100.100.100.200/32"), // metadata, Alibaba
	netip.MustParsePrefix("168.63.129.16/32"),   // the wire server, Azure
	netip.MustParsePrefix("169.254.0.0/16"),     // link-local, metadata almost everywhere
	netip.MustParsePrefix("192.0.0.192/32"),     // metadata, Oracle
	netip.MustParsePrefix("224.0.0.0/4"),        // multicast
	netip.MustParsePrefix("255.255.255.255/32"), // broadcast
	netip.MustParsePrefix("::/128"),             // unspecified
	netip.MustParsePrefix("fd00:ec2::254/128"),  // metadata, AWS
	netip.MustParsePrefix("fd20:ce::254/128"),   // metadata, GCP
	netip.MustParsePrefix("fe80::/10"),          // link-local
	netip.MustParsePrefix("ff00::/8"),           // multicast
}

// translated are prefixes in which an IPv4 address stands, to which a gateway leads, by the place of its first byte.
var translated = map[netip.Prefix]int{
	netip.MustParsePrefix("::/96"):          12, // IPv4-compatible (RFC 4291)
	netip.MustParsePrefix("64:ff9b::/96"):   12, // NAT64 (RFC 6052)
	netip.MustParsePrefix("64:ff9b:1::/48"): 12, // NAT64 of one's own (RFC 8215)
	netip.MustParsePrefix("2002::/16"):      2,  // 6to4 (RFC 3056)
}

// guard refuses addresses when they are dialled: after every name was looked up, so that no name can lead to them.
func guard(allowLoopback bool) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || refused(to.Addr(), allowLoopback) {
			return errRefusedAddress
		}
		return nil
	}
}

func refused(address netip.Addr, allowLoopback bool) bool {
	address = address.WithZone("").Unmap()
	if address.IsLoopback() {
		return !allowLoopback
	}
	for _, prefix := range refusedPrefixes {
		if prefix.Contains(address) {
			return true
		}
	}
	for prefix, place := range translated {
		if prefix.Contains(address) {
			bytes := address.As16()
			return refused(netip.AddrFrom4([4]byte(bytes[place:])), allowLoopback)
		}
	}
	return false
}
