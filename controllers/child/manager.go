package child

import (
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
)

// NewManagerMark is the mark of a manager of a version that has these options.
func NewManagerMark(version string, o PodOptions) cluster.ManagerMark {
	return cluster.ManagerMark(version + " " + cluster.HashOf(fmt.Sprintf("%s %s %s %x %s %s", o.Image, o.DuckDBImage, o.Allowed, []byte(o.ConfigKey), o.PullPolicy, o.PullSecrets))[:8])
}
