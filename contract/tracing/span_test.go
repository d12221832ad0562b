package tracing

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent  = "00-" + traceID + "-00f067aa0ba902b7-01"
)

func TestTheTraceOfARequest(t *testing.T) {
	header := func(value string) http.Header { return http.Header{"Traceparent": {value}} }
	other := "00-" + strings.Repeat("a", 32) + "-00f067aa0ba902b7-01"
	for name, row := range map[string]struct {
		from Parent
		want string
	}{
		"metadata":                       {Parent{Traceparent: parent}, traceID},
		"header":                         {Parent{Header: header(parent)}, traceID},
		"metadata before header":         {Parent{Traceparent: parent, Header: header(other)}, traceID},
		"a header beside bad metadata":   {Parent{Traceparent: "no", Header: header(parent)}, traceID},
		"none":                           {Parent{}, ""},
		"zeros":                          {Parent{Traceparent: "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01"}, ""},
		"upper case":                     {Parent{Traceparent: strings.ToUpper(parent)}, ""},
		"a later version, with more":     {Parent{Traceparent: "01" + parent[2:] + "-more"}, traceID},
		"version ff, which is none":      {Parent{Traceparent: "ff" + parent[2:]}, ""},
		"a state that cannot be read":    {Parent{Traceparent: parent, Tracestate: "==,,"}, traceID},
		"a parent that is much too long": {Parent{Traceparent: parent + strings.Repeat("0", 1<<16)}, ""},
	} {
		if got, _ := row.from.Given(); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// Whatever a caller sends, nothing panics, and a trace that is found is carried on in the form of the standard.
func FuzzParent(f *testing.F) {
	f.Add(parent, "vendor=1,other=2", parent)
	f.Add("00-0-0-0", "=", "")
	f.Add("", "", "ff-"+traceID+"-00f067aa0ba902b7-ff")
	tracer := &Tracer{}
	if tracer.Active() != nil {
		f.Fatal("it is on")
	}
	f.Fuzz(func(t *testing.T, traceparent, tracestate, header string) {
		id, _ := Parent{Traceparent: traceparent, Tracestate: tracestate, Header: http.Header{"Traceparent": {header}, "Tracestate": {tracestate}}}.Given()
		if id != "" && (len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" || strings.Trim(id, "0") == "") {
			t.Errorf("%q and %q give the trace %q", traceparent, header, id)
		}
	})
}

// With traces off nothing is allocated, whatever is called.
func TestNothingIsAllocatedWhileItIsOff(t *testing.T) {
	var none *Tracer
	off := &Tracer{}
	ctx, sql, header := t.Context(), []byte("SELECT 1"), http.Header{}
	if n := testing.AllocsPerRun(100, func() {
		if none.Active() != nil || off.Active() != nil {
			t.Error("it is on")
		}
		inside, span := Ask(ctx, "SELECT book")
		_, more := Child(ctx, "step create")
		Statement(inside, sql)
		Waited(inside, WaitedForShare, time.Time{})
		Happened(inside, Locked)
		Carry(inside, header)
		if Recorded(inside) || span.Recording() || more.Recording() || Of(ctx).Recording() || ID(ctx) != "" {
			t.Error("something is recorded")
		}
		span.Fail("x")
		span.End()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if len(header) != 0 {
		t.Errorf("headers: %v", header)
	}
}
