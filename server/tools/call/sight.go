package call

import (
	"crypto/sha256"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// SightOf stands for what a token may see now. An answer that is kept is shown again only while that is the same.
func SightOf(token access.Token, c *catalog.Catalog) []byte {
	h := sha256.New()
	for _, m := range c.Models() {
		scope := token.Reach(m)
		if !scope.Has(access.View) {
			continue
		}
		_, _ = fmt.Fprintf(h, "%q %q", m.Name, scope.Fingerprint()) // a hash takes everything
		for _, f := range scope.Fields() {
			_, _ = fmt.Fprintf(h, " %q %t", f.Name, f.Masked)
		}
	}
	return h.Sum(nil)
}
