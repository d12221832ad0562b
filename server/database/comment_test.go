package database

import (
	"context"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/share"
)

// No name ends the comment.
func FuzzComment(f *testing.F) {
	for _, name := range []string{"shop/agent", "x'*/; DROP TABLE book; --", "a b+c%", "\x00\n", "/* '", "$1 ? :x", "ü"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		comment := string(Comment(share.WithName(context.Background(), name)))
		if name == "" {
			if comment != "" {
				t.Errorf("the server's own statements have the comment %q", comment)
			}
			return
		}
		inside := strings.TrimSuffix(strings.TrimPrefix(comment, " /*token='"), "'*/")
		if strings.Trim(inside, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%-_.~") != "" || len(inside)+len(" /*token=''*/") != len(comment) {
			t.Errorf("the name %q makes the comment %q", name, comment)
		}
	})
}
