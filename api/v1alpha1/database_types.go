package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DatabaseConnection takes the place of what a connection Secret says, or adds what it lacks. Everything but the password can
// stand here.
type DatabaseConnection struct {
	// host is a host name or address; several have commas between them and are tried in this order.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^[^\s@/,][^\s@/]*$`
	Host string `json:"host,omitempty"`
	// port is the port of every host.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
	// name is the database's name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`
	// user is the database's user.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	User string `json:"user,omitempty"`
}

// DatabaseReplicas are servers that follow the database: standbys of PostgreSQL, replicas of MySQL and MariaDB. The exposures
// with `reads: Replica` are read from them.
type DatabaseReplicas struct {
	// connectionSecretRef names a Secret with a connection to the replicas, as that of the database. It may be the same
	// Secret, with the replicas' own key or host.
	// +required
	ConnectionSecretRef ConnectionSecretReference `json:"connectionSecretRef,omitzero"`
	// connection takes the place of what the Secret says, or adds what it lacks.
	// +optional
	Connection DatabaseConnection `json:"connection,omitempty,omitzero"`
	// maxStaleness is how old the rows of a replica may be; 10s when absent. A replica that is further behind is not read
	// until it has caught up. After a token's own write it reads from the primary until the replica has that write, or, if
	// the replica does not tell, for this long.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="must be between 1s and 1h"
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
