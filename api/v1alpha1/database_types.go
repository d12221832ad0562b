package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DatabaseReplicas are servers that follow the database: standbys of PostgreSQL, replicas of MySQL and MariaDB. The exposures
// with `reads: Replica` are read from them.
type DatabaseReplicas struct {
	// connectionSecretRef names a Secret with a connection to the replicas, as the database's connection Secret does. It
	// may be the same Secret, with another key.
	// +required
	ConnectionSecretRef ConnectionSecretReference `json:"connectionSecretRef,omitzero"`
	// maxStaleness is how old the rows of a replica may be; 10s when absent. A replica that is further behind is not read
	// until it has caught up. After a token's own write it reads from the primary until the replica has that write, or, if
	// the replica does not tell, for this long.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="must be a duration such as 500ms, 30s or 1m30s, between 1s and 1h"
	MaxStaleness *metav1.Duration `json:"maxStaleness,omitempty"`
	// pool bounds the connections of each pod to the replicas.
	// +optional
	Pool PoolSpec `json:"pool,omitempty,omitzero"`
}

// ReadsFrom says which servers of the database a model is read from.
// +kubebuilder:validation:Enum=Primary;Replica
type ReadsFrom string

// The servers of a database.
const (
	ReadsFromPrimary ReadsFrom = "Primary"
	ReadsFromReplica ReadsFrom = "Replica"
)
