package postgres

import "testing"

func TestPositions(t *testing.T) {
	for text, want := range map[string]uint64{"0/0": 0, "0/1A2B": 0x1a2b, "16/B374D848": 0x16<<32 | 0xb374d848} {
		if got, err := parsePosition(text); err != nil || got != want {
			t.Errorf("%s is %x, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "x/1", "1/x", "1/100000000"} {
		if _, err := parsePosition(text); err == nil {
			t.Errorf("%q is a position", text)
		}
	}
	// The next record begins behind a page's header; the last one ended before it.
	for next, want := range map[uint64]uint64{8192*3 + 24: 8192 * 3, 8192*2048 + 40: 8192 * 2048, 8192*3 + 64: 8192*3 + 64, 8192 * 3: 8192 * 3} {
		if got := recordEnd(next, 8192); got != want {
			t.Errorf("%d: got %d, want %d", next, got, want)
		}
	}
}
