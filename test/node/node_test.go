package node

import "testing"

func TestNewEnough(t *testing.T) {
	for version, want := range map[string]bool{
		"v20.20.2": false, "v22.18.9": false, "v22.19.0": true, "v22.23.3": true, "v24.0.0": true, "v100.1.2": true,
		"": false, "v": false, "v22": false, "nightly": false,
	} {
		t.Run(version, func(t *testing.T) {
			if got := newEnough(version); got != want {
				t.Errorf("newEnough(%q) = %v", version, got)
			}
		})
	}
}
