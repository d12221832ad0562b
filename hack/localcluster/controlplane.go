package localcluster

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
)

// podGrace is the grace period of the pods when the whole cluster ends.
const podGrace = 3 * time.Second

func (c *Cluster) launch(name string, args []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.running[name]; ok && !hasEnded(p) {
		return fmt.Errorf("%s runs already", name)
	}
	p, err := launch(c.layout, c.o.Assets, name, args)
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	c.running[name] = p
	return nil
}

// end kills components. They have nothing to save, and a regular shutdown takes seconds.
func (c *Cluster) end(names ...string) {
	c.mu.Lock()
	var ending []*process.Process
	for _, name := range names {
		if p, ok := c.running[name]; ok {
			ending = append(ending, p)
			delete(c.running, name)
		}
	}
	c.mu.Unlock()
	for _, p := range ending {
		p.Stop(0)
	}
}

// dead returns a component that has ended by itself, or "".
func (c *Cluster) dead() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, p := range c.running {
		if hasEnded(p) {
			return name
		}
	}
	return ""
}

func hasEnded(p *process.Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// Wait returns nil when the context ends, and an error when a component has ended by itself.
func (c *Cluster) Wait(ctx context.Context) error {
	for {
		if name := c.dead(); name != "" {
			return fmt.Errorf("%s has ended; see %s", name, c.layout.log(name))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// StopAPIServer makes an outage. The API server dies at once. The controller manager and the scheduler, which can do
// nothing without it, die with it. The pods go on.
func (c *Cluster) StopAPIServer() error {
	c.end(controllerManager, scheduler, apiServer)
	return nil
}

// StartAPIServer ends the outage, with the same port and data. It returns when the API server is ready. It starts the
// controller manager and the scheduler anew, because old ones could wait for half a minute after an outage.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	if err := c.launch(apiServer, apiServerArgs(c.layout, c.creds, c.ports)); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		return err
	}
	err = c.poll(ctx, "the API server", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
	if err != nil {
		return err
	}
	if err := c.launch(controllerManager, controllerManagerArgs(c.layout, c.creds)); err != nil {
		return err
	}
	return c.launch(scheduler, schedulerArgs(c.layout))
}

// Stop ends the cluster and all its pods. Only the directory stays, with the logs. It may be called again.
func (c *Cluster) Stop() error {
	var err error
	c.stopOnce.Do(func() {
		if c.cancel != nil {
			c.cancel()
		}
		if c.agent != nil {
			c.agent.Stop(podGrace)
		}
		c.end(controllerManager, scheduler, apiServer, etcd)
		if c.log != nil {
			err = c.log.Close()
		}
		if closing := c.lock.Close(); err == nil {
			err = closing
		}
	})
	return err
}
