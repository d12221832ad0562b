package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// listed has the members of an endpoint that ListEndpoints reads.
type listed struct {
	Metadata struct {
		Namespace         string            `json:"namespace"`
		Name              string            `json:"name"`
		UID               types.UID         `json:"uid"`
		ResourceVersion   string            `json:"resourceVersion"`
		Generation        int64             `json:"generation"`
		DeletionTimestamp *metav1.Time      `json:"deletionTimestamp"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
	Status v1alpha1.MCPEndpointStatus `json:"status"`
}

func (l *listed) endpoint() v1alpha1.MCPEndpoint {
	m := &l.Metadata
	return v1alpha1.MCPEndpoint{Status: l.Status, ObjectMeta: metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation, DeletionTimestamp: m.DeletionTimestamp, Annotations: m.Annotations,
	}}
}

// ListEndpoints lists the endpoints of a namespace, or of all if it is "": their names, annotations and statuses. Nobody may change them.
//
// Of a thousand endpoints the API server needs a while to write them all, and specs and managed fields are most of what comes. So the
// first list passes over these, unread, and reads each endpoint while the next ones still come. Later lists ask for the versions alone,
// with the same right, and then for the endpoints that have changed.
func (k *Cluster) ListEndpoints(ctx context.Context, namespace string) ([]v1alpha1.MCPEndpoint, error) {
	if !k.seen.empty() {
		if all, err := k.listChanged(ctx, namespace); err != nil || all != nil {
			return all, err
		}
	}
	stream, err := k.endpoints(namespace).Stream(ctx)
	if err != nil {
		return nil, noKind(err)
	}
	defer stream.Close()
	all, err := readList(stream)
	if err != nil {
		return nil, fmt.Errorf("the API server's list of mcpendpoints: %w", err)
	}
	k.seen.keep(namespace, all)
	return all, nil
}

// endpoints is a request for the endpoints of a namespace, or of all.
func (k *Cluster) endpoints(namespace string, name ...string) *rest.Request {
	path := []string{"apis", v1alpha1.GroupVersion.Group, v1alpha1.GroupVersion.Version}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return k.Core.RESTClient().Get().AbsPath(append(append(path, "mcpendpoints"), name...)...).SetHeader("Accept", "application/json")
}

// noKind is the error of a list. A namespace that is not there has an empty one, so what is not found is the kind.
func noKind(err error) error {
	if apierrors.IsNotFound(err) {
		return &meta.NoResourceMatchError{PartialResource: v1alpha1.GroupVersion.WithResource("mcpendpoints")}
	}
	return err
}

// mostChanged is how many endpoints are asked for one by one.
const mostChanged = 20

// listChanged is ListEndpoints for somebody to whom the others are known. It returns nil if a list of all is the better way.
func (k *Cluster) listChanged(ctx context.Context, namespace string) ([]v1alpha1.MCPEndpoint, error) {
	versions, err := k.versions.Resource(v1alpha1.GroupVersion.WithResource("mcpendpoints")).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, noKind(err)
	}
	all, changed := make([]v1alpha1.MCPEndpoint, len(versions.Items)), []int(nil)
	for i := range versions.Items {
		if !k.seen.get(&versions.Items[i], &all[i]) {
			changed = append(changed, i)
		}
	}
	if len(changed) > mostChanged {
		return nil, nil
	}
	for _, i := range changed {
		var one listed
		if !k.read(ctx, &versions.Items[i], &one) {
			return nil, nil // it went meanwhile, or the person may list and not get
		}
		all[i] = one.endpoint()
	}
	k.seen.keep(namespace, all)
	return all, nil
}

// read reads one endpoint, and reports whether that could be done.
func (k *Cluster) read(ctx context.Context, version *metav1.PartialObjectMetadata, into *listed) bool {
	text, err := k.endpoints(version.Namespace, version.Name).DoRaw(ctx)
	return err == nil && json.Unmarshal(text, into) == nil
}

func readList(from io.Reader) ([]v1alpha1.MCPEndpoint, error) {
	var all []v1alpha1.MCPEndpoint
	reader := json.NewDecoder(from)
	if _, err := reader.Token(); err != nil { // the list begins
		return nil, err
	}
	for reader.More() {
		name, err := reader.Token()
		if err != nil {
			return nil, err
		}
		if name != "items" {
			var other json.RawMessage
			if err := reader.Decode(&other); err != nil {
				return nil, err
			}
			continue
		}
		if _, err := reader.Token(); err != nil { // the items begin
			return nil, err
		}
		for reader.More() {
			var one listed
			if err := reader.Decode(&one); err != nil {
				return nil, err
			}
			all = append(all, one.endpoint())
		}
		if _, err := reader.Token(); err != nil { // the items end
			return nil, err
		}
	}
	_, err := reader.Token() // the list ends; an answer that was cut off does not
	return all, err
}
