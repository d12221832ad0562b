package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"text/template"

	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
)

// agentImage is the image of the clerk's pods: this program, with the argument agent.
const agentImage = "bookshop/agent:dev"

//go:embed agent.yaml
var agentPod string

var agentTemplate = template.Must(template.New("agent").Parse(agentPod))

// A clerk is an agent in the cluster: each time that it has something to do, it is a pod of the ServiceAccount clerk.
type clerk struct {
	platform *platform.Platform
	url      string
	runs     int
}

func newClerk(p *platform.Platform, url string) (*clerk, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &clerk{platform: p, url: url}, p.SetImage(agentImage, program)
}

// showCalls has a pod make the calls, and prints its log.
func (c *clerk) showCalls(ctx context.Context, calls ...string) error {
	c.runs++
	pod := fmt.Sprintf("clerk-%d", c.runs)
	var manifest bytes.Buffer
	if err := agentTemplate.Execute(&manifest, map[string]any{"Name": pod, "Image": agentImage, "URL": c.url, "Calls": calls}); err != nil {
		return err
	}
	if _, err := c.platform.KubectlInput(ctx, manifest.String(), "apply", "--server-side", "-f", "-"); err != nil {
		return err
	}
	_, err := c.platform.Kubectl(ctx, "-n", "bookshop", "wait", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=30s", "pod/"+pod)
	return errors.Join(err, c.platform.Print(ctx, "-n", "bookshop", "logs", pod))
}

// tokenFile adds the token in a file to every request of a client. The file is read again for each: the kubelet renews it.
type tokenFile string

func (f tokenFile) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := os.ReadFile(string(f))
	if err != nil {
		return nil, err
	}
	return bearer(strings.TrimSpace(string(token))).RoundTrip(r)
}

// runAgent runs in a pod of the clerk: it connects with the token in its file, and makes the calls.
func runAgent(ctx context.Context, calls []string) error {
	a, err := connect(ctx, os.Getenv("MCP_URL"), tokenFile(os.Getenv("MCP_TOKEN_FILE")))
	if err != nil {
		return err
	}
	defer a.session.Close()
	return a.showCalls(ctx, calls...)
}
