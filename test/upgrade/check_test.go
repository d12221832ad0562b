package main

import "testing"

func TestCheck(t *testing.T) {
	good := counts{situation: "upgrade", sent: 10, writes: 2, revoked: 1, answered: 3}
	for _, c := range []struct {
		name   string
		change func(*counts)
		wrong  bool
	}{
		{"all is well", func(*counts) {}, false},
		{"nothing was called", func(c *counts) { c.sent = 0 }, true},
		{"a living token was refused", func(c *counts) { c.refused = 1 }, true},
		{"a call failed", func(c *counts) { c.failed = 1 }, true},
		{"a write was refused", func(c *counts) { c.writesRefused = 1 }, true},
		{"a revoked token was answered late", func(c *counts) { c.answeredLate = 1 }, true},
		{"a token did not become Ready", func(c *counts) { c.undone = 1 }, true},
		{"the endpoint was closed, as it may be", func(c *counts) { c.closes, c.failed, c.writesRefused = true, 3, 1 }, false},
		{"it was closed, and refused a living token", func(c *counts) { c.closes, c.refused = true, 1 }, true},
	} {
		r := good
		c.change(&r)
		if err := check([]counts{good, r}); (err != nil) != c.wrong {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
