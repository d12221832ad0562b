package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DatabaseSpec is exactly one database: one that a Secret describes, a SQLite file, or files that DuckDB reads.
//
// +kubebuilder:validation:XValidation:rule="[has(self.connectionSecretRef), has(self.sqlite), has(self.duckdb)].filter(x, x).size() == 1",message="exactly one of connectionSecretRef, sqlite and duckdb must be given"
// +kubebuilder:validation:XValidation:rule="has(self.connectionSecretRef) == has(oldSelf.connectionSecretRef) && has(self.duckdb) == has(oldSelf.duckdb)",message="the kind of database cannot be changed; make a new MCPEndpoint"
// +kubebuilder:validation:XValidation:rule="!has(self.sqlite) && !has(self.duckdb) || !has(self.tls) && !has(self.engine) && !has(self.schemas) && !has(self.name) && !has(self.replicas)",message="engine, name, tls, schemas and replicas belong to connectionSecretRef, not to sqlite or duckdb"
// +kubebuilder:validation:XValidation:rule="!has(self.comment) || self.comment == 'None' || !has(self.sqlite) && !has(self.duckdb) && (!has(self.engine) || self.engine == 'PostgreSQL')",message="comment: Trace belongs to PostgreSQL"
// +kubebuilder:validation:XValidation:rule="!has(self.sessionSettings) || !has(self.sqlite) && !has(self.duckdb) && (!has(self.engine) || self.engine == 'PostgreSQL')",message="sessionSettings belong to PostgreSQL"
// +kubebuilder:validation:XValidation:rule="!has(self.duckdb) || !has(self.access) || self.access == 'ReadOnly'",message="DuckDB only reads: remove access, or write ReadOnly"
type DatabaseSpec struct {
	// connectionSecretRef names a Secret with a connection: a `uri`, or host, port, dbname, user and password. The server
	// knows the key names of CloudNativePG, Crunchy, Percona, Zalando, MariaDB's operator, Bitnami and the Service Binding
	// specification. When user, password or certificate change, the server goes over to new connections, and no call fails.
	// +optional
	ConnectionSecretRef *ConnectionSecretReference `json:"connectionSecretRef,omitempty"`
	// name is the database's name on its server. It replaces the Secret's, which may have none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`
	// sqlite is a SQLite file in a volume of the server's pod.
	// +optional
	SQLite *SQLiteSpec `json:"sqlite,omitempty"`
	// duckdb are files that DuckDB reads: a database of DuckDB, or Parquet and CSV files. They are never changed. The server's
	// image must have DuckDB; the manager's --duckdb-server-image names it.
	// +optional
	DuckDB *DuckDBSpec `json:"duckdb,omitempty"`
	// engine is the engine of a connectionSecretRef whose Secret does not say it: PostgreSQL, or MySQL, which is MariaDB
	// too. Absent, the Secret decides; if it says nothing, PostgreSQL.
	// +optional
	Engine DatabaseEngine `json:"engine,omitempty"`
	// tls says how the connection is protected. Absent, the Secret's sslmode decides; if it has none, mode Prefer.
	// +optional
	TLS *DatabaseTLS `json:"tls,omitempty"`
	// pool bounds the connections of the pods.
	// +optional
	Pool PoolSpec `json:"pool,omitempty,omitzero"`
	// replicas are servers that follow the database, for reads that may be a little old.
	// +optional
	Replicas *DatabaseReplicas `json:"replicas,omitempty"`
	// statementTimeout is the longest that one statement may run; 10s when absent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('1ms') && duration(self) <= duration('1h')",message="must be a duration such as 500ms, 30s or 1m30s, between 1ms and 1h"
	StatementTimeout *metav1.Duration `json:"statementTimeout,omitempty"`
	// access limits what the server may do, whatever tokens are granted; ReadWrite when absent, and ReadOnly with duckdb.
	// +optional
	Access DatabaseAccess `json:"access,omitempty"`
	// schemas are the database schemas whose tables may be exposed. A table without a schema is looked for in them, in this
	// order. Absent, the search path of the connection. In MySQL and MariaDB, schemas are databases of the server; absent,
	// the connection's own.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	Schemas []string `json:"schemas,omitempty"`
	// sessionSettings are settings that PostgreSQL has in each transaction of a caller (SET LOCAL), for row-level security
	// of the database's own: they say who calls. Other engines have none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	SessionSettings []SessionSetting `json:"sessionSettings,omitempty"`
	// comment adds a comment to the statements of callers in PostgreSQL: Trace names the caller and the trace, as sqlcommenter
	// does, for the database's own log and pg_stat_activity. Such statements are not prepared, and so cost the database more.
	// None when absent. Other engines have none.
	// +optional
	Comment StatementComment `json:"comment,omitempty"`
}

// StatementComment says what comments the server adds to statements.
// +kubebuilder:validation:Enum=None;Trace
type StatementComment string

// The comments that the server adds to statements.
const (
	CommentNone  StatementComment = "None"
	CommentTrace StatementComment = "Trace"
)

// DatabaseEngine is a database engine reached by a connection.
// +kubebuilder:validation:Enum=PostgreSQL;MySQL
type DatabaseEngine string

// The engines of a connection. MySQL is MariaDB, too.
const (
	EnginePostgreSQL DatabaseEngine = "PostgreSQL"
	EngineMySQL      DatabaseEngine = "MySQL"
)

// DatabaseAccess says what a server may do in its database.
// +kubebuilder:validation:Enum=ReadWrite;ReadOnly
type DatabaseAccess string

// The kinds of access.
const (
	DatabaseReadWrite DatabaseAccess = "ReadWrite"
	DatabaseReadOnly  DatabaseAccess = "ReadOnly"
)

// ConnectionSecretReference names a Secret with a database connection.
type ConnectionSecretReference struct {
	// name is the Secret's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	Name string `json:"name,omitempty"`
	// key is the key that holds a connection URI. Absent, the server looks for the well-known keys.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// SQLiteSpec is a SQLite file and the volume that it lies in.
//
// +kubebuilder:validation:XValidation:rule="has(self.emptyDir) != has(self.claim)",message="exactly one of emptyDir and claim must be given"
type SQLiteSpec struct {
	// emptyDir keeps the file as long as the pod lives.
	// +optional
	EmptyDir *SQLiteEmptyDir `json:"emptyDir,omitempty"`
	// claim keeps the file in a PersistentVolumeClaim.
	// +optional
	Claim *DatabaseClaim `json:"claim,omitempty"`
	// initConfigMapRef names a ConfigMap whose keys hold SQL. A new file gets all of it, once, in the order of the keys.
	// +optional
	InitConfigMapRef *ConfigMapReference `json:"initConfigMapRef,omitempty"`
}

// SQLiteEmptyDir is a volume that lives as long as the pod.
type SQLiteEmptyDir struct{}

// DatabaseClaim names a PersistentVolumeClaim in the endpoint's namespace.
type DatabaseClaim struct {
	// name is the claim's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	Name string `json:"name,omitempty"`
}

// DuckDBSpec are files that DuckDB reads, and the volume that they lie in.
type DuckDBSpec struct {
	// claim is the PersistentVolumeClaim with the files. The pods mount it read-only, so its files must be readable for the
	// server's user, 65532, or for a group of spec.server.podSecurityContext.
	// +required
	Claim DatabaseClaim `json:"claim,omitzero"`
	// path is the part of the claim that is read: a database (sales.duckdb), a Parquet or CSV file, or a folder of such files. It is
	// relative to the claim's root, and has none of the characters $ * ? [ ] { } \. Absent, it is the claim's root itself, a folder.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^/$*?\[\]{}\\]+(/[^/$*?\[\]{}\\]+)*$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('(^|/)[.][.]?(/|$)')",message="must be a path below the claim's root: without . and .. as names"
	Path string `json:"path,omitempty"`
}

// ConfigMapReference names a ConfigMap in the referencing object's own namespace.
type ConfigMapReference struct {
	// name is the ConfigMap's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	Name string `json:"name,omitempty"`
}

// DatabaseTLS says how a database connection is protected.
//
// +kubebuilder:validation:XValidation:rule="!has(self.clientCertificateSecretRef) || self.mode != 'Disable'",message="a client certificate is shown over TLS only; choose another mode than Disable"
type DatabaseTLS struct {
	// mode is how much is checked. The modes are libpq's values of sslmode, for every engine.
	// +required
	Mode TLSMode `json:"mode,omitempty"`
	// caSecretRef is the CA that the database's certificate is checked against. Absent, VerifyCA and VerifyFull check it
	// against the public CAs of the server's image. That is right for most hosted databases; use VerifyFull with them.
	// +optional
	CASecretRef *SecretKeyReference `json:"caSecretRef,omitempty"`
	// clientCertificateSecretRef names a Secret of the type kubernetes.io/tls whose certificate the database is shown.
	// Absent, the mode of the connection Secret holds, if it has one. The user may then have no password.
	// +optional
	ClientCertificateSecretRef *SecretReference `json:"clientCertificateSecretRef,omitempty"`
}

// TLSMode is libpq's sslmode in this API's words.
// +kubebuilder:validation:Enum=Disable;Prefer;Require;VerifyCA;VerifyFull
type TLSMode string

// PoolSpec bounds the pods' database connections.
type PoolSpec struct {
	// maxConnections is the most connections that all pods together hold. The manager shares them out evenly among the pods that run
	// and are about to, and changes that as pods come and go; a pod has one at least. Absent, each pod holds at most 8.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxConnections int32 `json:"maxConnections,omitempty"`
}

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
	// pool bounds the connections of the pods to the replicas.
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
