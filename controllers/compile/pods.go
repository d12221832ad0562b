package compile

import (
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// updatePods puts the number of pods into the main part if the pods have to know it. No entry of the Config has it: what objects ask
// for is programmed, however many pods there are.
func (c *Compiler) updatePods(pods *contract.Pods, next int64) {
	wanted := contract.Pods{}
	if c.main.Endpoint.CountsPods() {
		if wanted = c.main.Pods; pods != nil { // a manager that has just started keeps what is stored
			wanted = *pods
		}
	}
	if c.main.Pods == wanted {
		return
	}
	main := *c.main
	main.Pods, main.Revision = wanted, c.use(next)
	c.main = &main
	c.layout.main.changed(main.Revision, false)
}
