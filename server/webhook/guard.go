package webhook

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// errRefusedAddress is the error about an address that may not be called.
var errRefusedAddress = errors.New("the address may not be called")

// refusedPrefixes are addresses that lead to nobody's service: the pod itself, the link, and the metadata services of
// clouds, which give credentials to whoever can reach them.
var refusedPrefixes = prefixes(
	"0.0.0.0/8",             // this host
	"100.100.100.200/32",    // metadata, Alibaba
	"168.63.129.16/32",      // the wire server, Azure
	"169.254.0.0/16",        // link-local, metadata almost everywhere
	"192.0.0.192/32",        // metadata, Oracle
	"224.0.0.0/4",           // multicast
	"255.255.255.255/32",    // broadcast
	"::/128",                // unspecified
	"2001::/32",             // Teredo (RFC 4380): the address in it is another's, and hidden
	"fd00:42::42/128",       // metadata, Scaleway
	"fd00:a9fe:a9fe::1/128", // metadata, OpenStack and others
	"fd00:ec2::/32",         // metadata, time and DNS, AWS
	"fd20:ce::254/128",      // metadata, GCP
	"fe80::/10",             // link-local
	"ff00::/8",              // multicast
)

func prefixes(all ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, len(all))
	for i, text := range all {
		parsed[i] = netip.MustParsePrefix(text)
	}
	return parsed
}

// translated is a prefix whose addresses hold an IPv4 address, to which a gateway leads.
type translated struct {
	prefix netip.Prefix
	// places are the places of the four bytes.
	places [4]int
}

var translations = []translated{
	{netip.MustParsePrefix("::/96"), [4]int{12, 13, 14, 15}},           // IPv4-compatible (RFC 4291)
	{netip.MustParsePrefix("::ffff:0:0:0/96"), [4]int{12, 13, 14, 15}}, // IPv4-translated (RFC 2765)
	{netip.MustParsePrefix("64:ff9b::/96"), [4]int{12, 13, 14, 15}},    // NAT64 (RFC 6052)
	{netip.MustParsePrefix("2002::/16"), [4]int{2, 3, 4, 5}},           // 6to4 (RFC 3056)
	// NAT64 of one's own (RFC 8215): a gateway chooses among the forms of RFC 6052, so an address is read in each.
	{netip.MustParsePrefix("64:ff9b:1::/48"), [4]int{6, 7, 9, 10}},    // a prefix of 48 bits
	{netip.MustParsePrefix("64:ff9b:1::/48"), [4]int{7, 9, 10, 11}},   // of 56
	{netip.MustParsePrefix("64:ff9b:1::/48"), [4]int{9, 10, 11, 12}},  // of 64
	{netip.MustParsePrefix("64:ff9b:1::/48"), [4]int{12, 13, 14, 15}}, // of 96
}

// A guard judges addresses when they are dialled: after every name was looked up, so that no name can lead past it.
type guard struct {
	allowLoopback bool
	// own returns the pod's addresses.
	own func() ([]netip.Addr, error)
}

// control implements net.Dialer's ControlContext.
func (g guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || g.refuses(to.Addr()) {
		return errRefusedAddress
	}
	return nil
}

// refuses reports whether the address may not be called. An address that holds another is judged by both.
func (g guard) refuses(address netip.Addr) bool {
	address = address.WithZone("").Unmap()
	if address.IsLoopback() {
		return !g.allowLoopback
	}
	for _, prefix := range refusedPrefixes {
		if prefix.Contains(address) {
			return true
		}
	}
	if !g.allowLoopback && g.isOwn(address) {
		return true
	}
	for _, t := range translations {
		if t.prefix.Contains(address) && t.refused(g, address) {
			return true
		}
	}
	return false
}

// refused reports whether the IPv4 address inside may not be called. Zeros are no address: another form leaves them there.
func (t translated) refused(g guard, address netip.Addr) bool {
	bytes := address.As16()
	var inside [4]byte
	for i, place := range t.places {
		inside[i] = bytes[place]
	}
	if t.prefix.Bits() == 48 && inside[0] == 0 {
		return false
	}
	return g.refuses(netip.AddrFrom4(inside))
}

// isOwn reports whether the address is the pod's own. If the pod's addresses cannot be read, it might be.
func (g guard) isOwn(address netip.Addr) bool {
	addresses, err := g.own()
	return err != nil || slices.ContainsFunc(addresses, func(own netip.Addr) bool { return own.Unmap() == address })
}

// interfaceAddresses are the addresses of the machine's network interfaces, which are a pod's own in a container.
func interfaceAddresses() ([]netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var addresses []netip.Addr
	for _, address := range all {
		prefix, err := netip.ParsePrefix(address.String())
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, prefix.Addr())
	}
	return addresses, nil
}
