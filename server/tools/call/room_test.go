package call_test

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// reading is an operation that reads.
var reading = &call.Operation{Operation: &contract.Operation{Name: "list"}}

// answer is what a call that writes the text in its room answers.
func answer(c *call.Call, text []byte) call.Result {
	room := c.Room()
	return c.ResultOf(room.Holds(append(room.Begin(0), text...)), nil)
}

func TestAReleasedAnswerIsOverwritten(t *testing.T) {
	for size := range 200 { // beyond what a room begins with, too
		secret := bytes.Repeat([]byte("secret"), size*size)
		r := answer(&call.Call{Request: call.Request{Op: reading}}, secret)
		kept := r.Text
		if !bytes.Equal(kept, secret) {
			t.Fatalf("%d bytes of %q", len(kept), kept[:min(len(kept), 100)])
		}
		r.Release()
		if bytes.Contains(kept, []byte("secret")) && len(secret) <= 128<<10 {
			t.Fatalf("%d bytes are still there after they were released", len(secret))
		}
		if r.Release(); r.Text != nil {
			t.Error("a released answer has a text")
		}
	}
}

func TestARoomBeginsEmpty(t *testing.T) {
	for range 100 {
		r := answer(&call.Call{Request: call.Request{Op: reading}}, []byte("what another call wrote"))
		r.Release()
		begun := new(call.Call).Room().Begin(20)
		if !bytes.Equal(begun, make([]byte, 20)) {
			t.Fatalf("another call finds %q", begun)
		}
	}
}

func TestThePartsOfACallHaveMemoryOfTheirOwn(t *testing.T) {
	part := &call.Call{Request: call.Request{Op: reading, IsPart: true}}
	r := answer(part, []byte("the answer of a step"))
	kept := r.Text
	r.Release()
	if string(kept) != "the answer of a step" {
		t.Errorf("it became %q", kept)
	}
	c := &call.Call{Request: call.Request{Op: reading}}
	first, second := c.Room(), c.Room()
	if first == second {
		t.Error("two answers of one call share their memory")
	}
}

// Under the race detector, two calls that have the same memory at the same time are found, even if neither is wrong.
func TestCallsAtOnceDoNotShareMemory(t *testing.T) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 500 {
				text := bytes.Repeat([]byte{byte('a' + i)}, 1+n%100*97)
				r := answer(&call.Call{Request: call.Request{Op: reading}}, text)
				if !slices.Equal(r.Text, text) {
					t.Errorf("caller %d: its answer became another", i)
				}
				r.Release()
			}
		})
	}
	all.Wait()
}
