package objpool_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/objpool"
)

type buffer struct{ text []byte }

func TestSwitchedOffEveryObjectIsNew(t *testing.T) {
	var pool objpool.Pool[buffer]
	objpool.Switch(false)
	defer objpool.Switch(true)
	for range 100 {
		b := pool.Get()
		if b.text != nil {
			t.Fatal("an object came back")
		}
		b.text = []byte("used")
		pool.Put(b)
	}
	objpool.Switch(true)
	for range 1000 { // the runtime may forget some of them
		b := pool.Get()
		if b.text != nil {
			return
		}
		b.text = []byte("used")
		pool.Put(b)
	}
	t.Error("switched on, no object ever comes back")
}
