package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// listed has the members of an endpoint that ListEndpoints reads.
type listed struct {
	Metadata struct {
		Namespace         string            `json:"namespace"`
		Name              string            `json:"name"`
		Generation        int64             `json:"generation"`
		DeletionTimestamp *metav1.Time      `json:"deletionTimestamp"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
	Status v1alpha1.MCPEndpointStatus `json:"status"`
}

// ListEndpoints lists the endpoints of a namespace, or of all if it is "": their names, annotations and statuses. All else is passed over
// unread, and each is read while the next ones still come: of a thousand endpoints, specs and managed fields are most of what comes.
func (k *Cluster) ListEndpoints(ctx context.Context, namespace string) ([]v1alpha1.MCPEndpoint, error) {
	path := []string{"apis", v1alpha1.GroupVersion.Group, v1alpha1.GroupVersion.Version}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	stream, err := k.Core.RESTClient().Get().AbsPath(append(path, "mcpendpoints")...).SetHeader("Accept", "application/json").Stream(ctx)
	switch {
	case apierrors.IsNotFound(err): // a namespace that is not there has an empty list
		return nil, &meta.NoResourceMatchError{PartialResource: v1alpha1.GroupVersion.WithResource("mcpendpoints")}
	case err != nil:
		return nil, err
	}
	defer stream.Close()
	all, err := readList(stream)
	if err != nil {
		return nil, fmt.Errorf("the API server's list of mcpendpoints: %w", err)
	}
	return all, nil
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
			m := &one.Metadata
			all = append(all, v1alpha1.MCPEndpoint{Status: one.Status, ObjectMeta: metav1.ObjectMeta{
				Namespace: m.Namespace, Name: m.Name, Generation: m.Generation, DeletionTimestamp: m.DeletionTimestamp, Annotations: m.Annotations,
			}})
		}
		if _, err := reader.Token(); err != nil { // the items end
			return nil, err
		}
	}
	_, err := reader.Token() // the list ends; an answer that was cut off does not
	return all, err
}
