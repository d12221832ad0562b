package node

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
)

// launch starts a component in the node's own control group. Its log is DIR/logs/NAME.log, for all its runs.
func (n *Node) launch(name string, args []string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	folder := n.o.Kubernetes
	if _, err := os.Stat(filepath.Join(n.o.Programs, name)); err == nil {
		folder = n.o.Programs
	}
	log, err := os.OpenFile(n.path("logs/"+name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p, err := process.Start(process.Spec{
		Path: filepath.Join(folder, name), Args: args, Dir: n.o.Dir, Output: log,
		Env:    []string{"PATH=" + n.o.Programs + ":" + n.path("tools"), "HOME=" + n.o.Dir},
		Record: n.path("run/" + name + ".pid"),
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	n.running[name] = p
	return joinGroup(p.PID())
}

// end kills components. They have nothing to save.
func (n *Node) end(names ...string) {
	for _, name := range names {
		n.mu.Lock()
		p := n.running[name]
		delete(n.running, name)
		n.mu.Unlock()
		if p != nil {
			p.Stop(0)
		}
	}
}

// dead returns a component that has ended by itself, or "".
func (n *Node) dead() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, p := range n.running {
		select {
		case <-p.Done():
			return name
		default:
		}
	}
	return ""
}
