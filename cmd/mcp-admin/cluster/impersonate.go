package cluster

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Impersonator reaches a cluster as one person or another, with the right to impersonate them.
type Impersonator struct {
	config *rest.Config
	// mapper knows the names of kinds. They are the same for everybody, and are asked for once.
	mapper meta.RESTMapper
	seen   *seen
}

// NewImpersonator returns an Impersonator that asks with a configuration's credentials. It makes no request.
func NewImpersonator(config *rest.Config) (*Impersonator, error) {
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, http)
	return &Impersonator{config, mapper, &seen{}}, err
}

// As returns the cluster as a person of some groups: each request of it, those for logs and ports among them, is this person's for the API
// server, and nobody else's.
func (i *Impersonator) As(person string, groups []string) (*Cluster, error) {
	config := rest.CopyConfig(i.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: person, Groups: groups}
	return newCluster(config, "", i.mapper, i.seen)
}
