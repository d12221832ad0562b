package main

import (
	"strings"
	"testing"
)

func TestReportCounts(t *testing.T) {
	var out strings.Builder
	r := &report{out: &out}
	r.part("tokens")
	r.in("a good one", "", "")
	r.out401("a bad one", "at once", "")
	if !r.print() || !strings.HasSuffix(out.String(), "\nidentity: 1 let in, 1 refused, 0 wrong\n") {
		t.Errorf("it printed %q", out.String())
	}
	r.out401("a worse one", "", "it was let in")
	if r.print() {
		t.Error("something wrong is no success")
	}
	if !strings.HasSuffix(out.String(), "\nWRONG: tokens: a worse one: it was let in\n\nidentity: 1 let in, 1 refused, 1 wrong\n") {
		t.Errorf("it printed %q", out.String())
	}
	if (&report{out: &out}).print() {
		t.Error("nothing at all is no success")
	}
}
