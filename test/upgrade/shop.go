package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
)

// shop is an endpoint of two pods in a namespace of its own, with the address that leads to it.
type shop struct {
	cluster         *platform.Platform
	namespace, name string
	url             string
}

const shopManifests = `
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: v1
kind: Secret
metadata: {name: database, namespace: %[1]s}
stringData: %[3]s
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: %[2]s-item, namespace: %[1]s}
spec: {endpointRef: {name: %[2]s}, table: {name: item}, model: item, expose: true}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  database: {connectionSecretRef: {name: database}, schemas: [stock]}
  server: {replicas: 2%[4]s}
`

// newShop makes a shop. image is its pods' image; "" is the manager's choice.
func newShop(ctx context.Context, cluster *platform.Platform, namespace, name, connection, image string) (*shop, error) {
	if image != "" {
		image = ", image: " + image
	}
	s := &shop{cluster: cluster, namespace: namespace, name: name}
	if _, err := cluster.KubectlInput(ctx, fmt.Sprintf(shopManifests, namespace, name, connection, image), "apply", "--server-side", "-f", "-"); err != nil {
		return nil, err
	}
	address, err := cluster.Forward(namespace+"/"+name+"-mcp:80", "127.0.0.1:0")
	s.url = "http://" + address + "/mcp/"
	return s, err
}

func (s *shop) kubectl(ctx context.Context, args ...string) (string, error) {
	return s.cluster.Kubectl(ctx, append([]string{"-n", s.namespace}, args...)...)
}

// ready waits until an object is Ready.
func (s *shop) ready(ctx context.Context, objects ...string) error {
	_, err := s.kubectl(ctx, append([]string{"wait", "--timeout=180s", "--for=condition=Ready"}, objects...)...)
	return err
}

// rolledOut waits until all pods have the image, and no others are left.
func (s *shop) rolledOut(ctx context.Context, image string) error {
	deadline := time.Now().Add(3 * time.Minute)
	for {
		images, err := s.kubectl(ctx, "get", "pods", "-l", "mcpadmin.dev/endpoint="+s.name, "-o", "jsonpath={.items[*].spec.containers[0].image}")
		if err != nil {
			return err
		}
		if images == image+" "+image {
			_, err := s.kubectl(ctx, "rollout", "status", "deployment/"+s.name+"-mcp", "--timeout=120s")
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: the pods have the images %q, not two of %s", s.namespace, images, image)
		}
		pause(ctx, 200*time.Millisecond)
	}
}

// token is one MCPToken: its name, its text, and when it was seen to be Ready.
type token struct {
	name, text string
	ready      time.Time
}

const tokenManifest = `
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: %[2]s, namespace: %[1]s}
spec: {endpointRef: {name: %[3]s}, permissions: [{models: ["*"], verbs: [view, add]}]}
`

// issue makes tokens, and returns them when they are Ready.
func (s *shop) issue(ctx context.Context, names ...string) ([]token, error) {
	var manifest strings.Builder
	objects := make([]string, len(names))
	for i, name := range names {
		fmt.Fprintf(&manifest, tokenManifest, s.namespace, name, s.name)
		objects[i] = "mcptoken/" + name
	}
	if _, err := s.cluster.KubectlInput(ctx, manifest.String(), "apply", "--server-side", "-f", "-"); err != nil {
		return nil, err
	}
	if err := s.ready(ctx, objects...); err != nil {
		return nil, err
	}
	ready := time.Now()
	found, err := s.kubectl(ctx, append([]string{"get", "-o", "json", "secret"}, names...)...)
	if err != nil {
		return nil, err
	}
	type secret struct {
		Metadata struct{ Name string }
		Data     struct{ Token string }
	}
	var list struct{ Items []secret }
	if err := json.Unmarshal([]byte(found), &list); err != nil {
		return nil, err
	}
	if len(names) == 1 { // then it is no list
		list.Items = make([]secret, 1)
		if err := json.Unmarshal([]byte(found), &list.Items[0]); err != nil {
			return nil, err
		}
	}
	tokens := make([]token, len(list.Items))
	for i, item := range list.Items {
		text, err := base64.StdEncoding.DecodeString(item.Data.Token)
		if err != nil {
			return nil, err
		}
		tokens[i] = token{item.Metadata.Name, string(text), ready}
	}
	return tokens, nil
}

// revoke takes a token away: by deleting it, or by setting it inactive.
func (s *shop) revoke(ctx context.Context, name string, inactive bool) error {
	var err error
	if inactive {
		_, err = s.kubectl(ctx, "patch", "mcptoken", name, "--type=merge", "-p", `{"spec":{"active":false}}`)
	} else {
		_, err = s.kubectl(ctx, "delete", "mcptoken", name, "--wait=false")
	}
	return err
}

// useAddedField sets the field that only the next release knows, in an object of each kind.
func (s *shop) useAddedField(ctx context.Context) error {
	for _, object := range []string{"mcpendpoint/" + s.name, "mcpmodelexposure/" + s.name + "-item", "mcptoken/agent-0"} {
		if _, err := s.kubectl(ctx, "patch", object, "--type=merge", "-p", `{"spec":{"`+addedField+`":"set"}}`); err != nil {
			return err
		}
		value, err := s.kubectl(ctx, "get", object, "-o", "jsonpath={.spec."+addedField+"}")
		if err != nil {
			return err
		}
		if value != "set" {
			return fmt.Errorf("%s: the next release's definition drops spec.%s", object, addedField)
		}
	}
	return nil
}

// configs are the names of the Secrets in which the endpoint's Config lies.
func (s *shop) configs(ctx context.Context) ([]string, error) {
	names, err := s.kubectl(ctx, "get", "secrets", "-l", "mcpadmin.dev/component=config,mcpadmin.dev/endpoint="+s.name, "-o", "jsonpath={.items[*].metadata.name}")
	return strings.Fields(names), err
}

// pause sleeps, unless the context ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
