package usage_test

import (
	"os"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/usage"
)

func TestOf(t *testing.T) {
	own := usage.Of(os.Getpid())
	if own.Name != "usage.test" || own.RSS < 1<<20 || own.Peak < own.RSS {
		t.Errorf("this process is %+v", own)
	}
	if gone := usage.Of(-1); gone != (usage.Process{}) {
		t.Errorf("a process that is none uses %+v", gone)
	}
}
