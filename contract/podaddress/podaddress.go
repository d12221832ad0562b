// Package podaddress reads a pod's own addresses, and says where its programs can listen. It imports nothing of the
// project.
package podaddress

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Parse reads addresses in the form of the downward API, separated by commas; "" has none.
func Parse(list string) ([]netip.Addr, error) {
	if list == "" {
		return nil, nil
	}
	var addresses []netip.Addr
	for text := range strings.SplitSeq(list, ",") {
		address, err := netip.ParseAddr(text)
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, address)
	}
	return addresses, nil
}

// Listen listens on each of the addresses, "host:port", but leaves out localhost in a pod that shares it with others:
// there it would take the port from all of them. Such a pod's own address is one of localhost's.
func Listen(addresses []string, pod []netip.Addr) ([]net.Listener, error) {
	var listeners []net.Listener
	for _, address := range Own(addresses, pod) {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			Close(listeners)
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		listeners = append(listeners, listener)
	}
	return listeners, nil
}

// Close closes listeners that nobody serves.
func Close(listeners []net.Listener) {
	for _, listener := range listeners {
		_ = listener.Close()
	}
}

// Own returns the addresses that belong to no other pod.
func Own(addresses []string, pod []netip.Addr) []string {
	if !slices.ContainsFunc(pod, netip.Addr.IsLoopback) {
		return addresses
	}
	return slices.DeleteFunc(slices.Clone(addresses), func(address string) bool {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return false // whoever listens says what is wrong
		}
		ip, err := netip.ParseAddr(host)
		return host == "localhost" || err == nil && ip.IsLoopback() && !slices.Contains(pod, ip)
	})
}
