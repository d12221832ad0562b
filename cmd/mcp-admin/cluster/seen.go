package cluster

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// seen are the endpoints that lists have shown, each in its newest version. Several people may have one: an endpoint is only taken from it
// for somebody whom the API server has just told its version, which takes the right to list it. Safe for concurrent use.
type seen struct {
	mu  sync.Mutex
	all map[types.UID]v1alpha1.MCPEndpoint
}

// empty reports whether nothing was seen yet. A nil one is always empty.
func (s *seen) empty() bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all) == 0
}

// get looks for the endpoint in just this version.
func (s *seen) get(version *metav1.PartialObjectMetadata, into *v1alpha1.MCPEndpoint) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.all[version.UID]
	if !known || version.ResourceVersion == "" || e.ResourceVersion != version.ResourceVersion {
		return false
	}
	*into = e
	return true
}

// keep keeps the endpoints of a namespace, or of all if it is "". Others of it are forgotten.
func (s *seen) keep(namespace string, all []v1alpha1.MCPEndpoint) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := make(map[types.UID]v1alpha1.MCPEndpoint, len(all))
	for uid, e := range s.all {
		if namespace != "" && e.Namespace != namespace {
			kept[uid] = e
		}
	}
	for i := range all {
		kept[all[i].UID] = all[i]
	}
	s.all = kept
}
