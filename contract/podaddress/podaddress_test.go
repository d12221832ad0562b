package podaddress

import (
	"net"
	"slices"
	"strings"
	"testing"
)

func TestAPodLeavesOutALocalhostThatItShares(t *testing.T) {
	both := func(own string) []string { return []string{"127.0.0.1:8080", own} }
	for name, row := range map[string]struct {
		pod         string
		want, given []string
	}{
		"IPv4":                       {"10.1.2.3", both("[10.1.2.3]:8080"), both("[10.1.2.3]:8080")},
		"IPv6":                       {"fd00::3", both("[fd00::3]:8080"), both("[fd00::3]:8080")},
		"both":                       {"10.1.2.3,fd00::3", both("[10.1.2.3]:8080"), both("[10.1.2.3]:8080")},
		"shared":                     {"127.77.0.3", []string{"[127.77.0.3]:8080"}, both("[127.77.0.3]:8080")},
		"shared, by name":            {"127.77.0.3", []string{"127.77.0.3:8080"}, []string{"localhost:8080", "127.77.0.3:8080"}},
		"shared, what is no address": {"127.77.0.3", []string{"nonsense"}, []string{"nonsense"}},
		"no pod":                     {"", both("10.1.2.3:8080"), both("10.1.2.3:8080")},
	} {
		t.Run(name, func(t *testing.T) {
			pod, err := Parse(row.pod)
			if err != nil {
				t.Fatal(err)
			}
			if got := Own(row.given, pod); !slices.Equal(got, row.want) {
				t.Errorf("%v, want %v", got, row.want)
			}
		})
	}
	if _, err := Parse("10.1.2.3,x"); err == nil {
		t.Error("x is no address")
	}
}

func TestListenListensOnAllOrNone(t *testing.T) {
	listeners, err := Listen([]string{"127.0.0.1:0", "127.0.0.2:0"}, nil)
	if err != nil || len(listeners) != 2 {
		t.Fatalf("got %d listeners, want 2: %v", len(listeners), err)
	}
	defer Close(listeners)
	free, err := net.Listen("tcp", "127.0.0.3:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	taken := listeners[0].Addr().String()
	if _, err := Listen([]string{address, taken}, nil); err == nil || !strings.Contains(err.Error(), taken) {
		t.Fatalf("%v", err)
	}
	again, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("the first is still taken: %v", err)
	}
	again.Close()
}
