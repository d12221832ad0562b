package contract

// MaxStatusBytes bounds a Status as JSON: the server shortens what is longer, and the manager reads no more.
const MaxStatusBytes = 2 << 20

// Status is a server's pod's report on itself at /status on its admin port, to whoever shows the StatusKey.
//
// GET /status?seen=SERIAL&wait=20s answers at once if Serial differs from SERIAL, else when it changes, or after
// wait. A serial is opaque, and never the same again after the process restarted. With &models=SERIAL the answer lacks Models
// if its ModelsSerial is that SERIAL: they are large, and seldom change.
type Status struct {
	Serial string `json:"serial"`
	// Version is the form of the Config that the pod answers from.
	Version int `json:"version"`
	// Revision is the revision of the main part that the pod answers from; 0 before the first.
	Revision int64 `json:"revision"`
	// TokenParts are the revisions of the token parts that the pod answers from, by index: as many as its layout has. A part
	// that is missing has 0.
	TokenParts []int64 `json:"tokenParts,omitempty"`
	// Refused is the newest part that was refused, if none of that Secret has been applied since.
	Refused *Refusal `json:"refused,omitempty"`
	// Ready reports whether the pod has applied a Config, has seen the schema once, and has a certificate if it needs one.
	Ready    bool           `json:"ready"`
	Database DatabaseStatus `json:"database"`
	// AuditLinesProblem is why the newest audit line could not be written; "" if it was.
	AuditLinesProblem string `json:"auditLinesProblem,omitempty"`
	// TracingProblem is why no traces are sent though they are asked for, AuditCollectorProblem why no audit lines are sent to their
	// collector; "" if they are, or nobody asked for it.
	TracingProblem        string `json:"tracingProblem,omitempty"`
	AuditCollectorProblem string `json:"auditCollectorProblem,omitempty"`
	// Certificate is nil if the endpoint's port does not speak TLS.
	Certificate *CertificateStatus `json:"certificate,omitempty"`
	// Issuers are those whose tokens are checked: the cluster, if there are tokens for ServiceAccounts, and the endpoint's.
	Issuers []IssuerStatus `json:"issuers,omitempty"`
	// Models are the models of the Config that the pod answers from, in its order. ModelsSerial differs if they do.
	Models       []ModelStatus `json:"models,omitempty"`
	ModelsSerial string        `json:"modelsSerial,omitempty"`
	// ApprovalsSerial differs if /approvals has more; "" if no call waited yet.
	ApprovalsSerial string `json:"approvalsSerial,omitempty"`
	// ApprovalProblems say of approval policies, "name: why", that they cannot be judged by the database as it is.
	ApprovalProblems []string `json:"approvalProblems,omitempty"`
	// NotifyProblem is why a webhook was not told of calls that wait, by the newest attempt; "" if it was.
	NotifyProblem string `json:"notifyProblem,omitempty"`
}

// Refusal says why a part of the Config was not applied.
type Refusal struct {
	// Secret is the part's.
	Secret string `json:"secret,omitempty"`
	// Revision is 0 if it could not be read.
	Revision int64 `json:"revision,omitempty"`
	// Highest is the highest revision of any part that the pod has had, if the refused one is older than what was there before.
	// The manager continues above it.
	Highest int64  `json:"highest,omitempty"`
	Message string `json:"message"`
	// Closed reports whether the pod answers no more, because it has refused the part for too long.
	Closed bool `json:"closed,omitempty"`
}

// RevisionOfPart is the revision that the pod has applied of a token part; index may belong to a larger layout than the
// pod's own.
func (s *Status) RevisionOfPart(index int) int64 {
	if len(s.TokenParts) == 0 {
		return 0
	}
	return s.TokenParts[index&(len(s.TokenParts)-1)]
}

// The reasons of a DatabaseStatus, of a CertificateStatus and of a ModelStatus. They are also the reasons of the objects'
// conditions.
const (
	// ReasonConnected: the newest attempt to reach the database succeeded.
	ReasonConnected = "Connected"
	// ReasonConnecting: no attempt has ended yet.
	ReasonConnecting = "Connecting"
	// ReasonSecretIncomplete: the connection Secret lacks a key; the message names it.
	ReasonSecretIncomplete = "SecretIncomplete"
	// ReasonAuthenticationFailed: the database refused the user or password.
	ReasonAuthenticationFailed = "AuthenticationFailed"
	// ReasonDatabaseNotFound: the server has no database of that name.
	ReasonDatabaseNotFound = "DatabaseNotFound"
	// ReasonSchemaNotFound: the Config names a schema that does not exist, or that the user may not use.
	ReasonSchemaNotFound = "SchemaNotFound"
	// ReasonUnreachable: the database does not answer; the message says where.
	ReasonUnreachable = "Unreachable"
	// ReasonTLSFailed: TLS was wanted and could not be had.
	ReasonTLSFailed = "TLSFailed"
	// ReasonInitFailed: the SQL for a new SQLite file failed; the message names the key and the error.
	ReasonInitFailed = "InitFailed"
	// ReasonDatabaseError: anything else that the database said.
	ReasonDatabaseError = "DatabaseError"

	// ReasonCertificateLoaded: the newest certificate is in use.
	ReasonCertificateLoaded = "CertificateLoaded"
	// ReasonCertificateMissing: the Secret of the endpoint's certificate does not exist, or lacks a key; the message
	// names it.
	ReasonCertificateMissing = "CertificateMissing"
	// ReasonCertificateInvalid: the certificate or its key cannot be read, or they do not belong together.
	ReasonCertificateInvalid = "CertificateInvalid"

	// ReasonServed: the model is answered for.
	ReasonServed = "Served"
	// ReasonSchemaUnknown: the database's schema has not been seen yet.
	ReasonSchemaUnknown = "SchemaUnknown"
	// ReasonWaitingForReport: the model does not fit the schema as it was read before the Config came; it is read again.
	ReasonWaitingForReport = "WaitingForReport"
	// ReasonTableNotFound: there is no such table; the message has the nearest name.
	ReasonTableNotFound = "TableNotFound"
	// ReasonNotPermitted: the database's user may not read the table; the message has the statement that would let it.
	ReasonNotPermitted = "NotPermitted"
	// ReasonFieldNotFound: a list of the exposure names a column that does not exist, or that is hidden.
	ReasonFieldNotFound = "FieldNotFound"
	// ReasonFieldNotAllowed: a list of the exposure names a column that cannot stand there (a key to hide, say).
	ReasonFieldNotAllowed = "FieldNotAllowed"
	// ReasonNotUnderstood: the server is older than the manager, and cannot serve the model as its exposure demands; the
	// message names what it does not understand.
	ReasonNotUnderstood = "NotUnderstood"
	// ReasonTableConflicted: an older exposure has the same table; only known once the schema is.
	ReasonTableConflicted = "Conflicted"
)

// DatabaseStatus is the database as the pod last saw it.
type DatabaseStatus struct {
	// Reason is ReasonConnected, or why it is not.
	Reason string `json:"reason"`
	// Message says what and where, with no secret in it.
	Message string `json:"message,omitempty"`
	// Engine is its name for people ("PostgreSQL"), Version its version ("15.18"), Name the database's name.
	Engine  string `json:"engine,omitempty"`
	Version string `json:"version,omitempty"`
	Name    string `json:"name,omitempty"`
	// AuditProblem is why the audit table that the Config names cannot be used, and what would make it: nothing is
	// written meanwhile. It is "" if the table can be used, or none is named.
	AuditProblem string `json:"auditProblem,omitempty"`
	// Notes say what the database lacks, and what is done without it; "" if it lacks nothing.
	Notes string `json:"notes,omitempty"`
}

// The keys of the Secret of the endpoint's certificate: the keys of the type kubernetes.io/tls.
const (
	CertificateKey        = "tls.crt"
	CertificatePrivateKey = "tls.key"
)

// CertificateStatus is the certificate of the endpoint's port.
type CertificateStatus struct {
	// InUse reports whether there is a certificate to show. Without one every handshake is refused.
	InUse bool `json:"inUse"`
	// Reason is ReasonCertificateLoaded, or what is wrong with the newest one, while the one from before stays in use.
	Reason string `json:"reason"`
	// Message says what and where, with nothing of the key in it.
	Message string `json:"message,omitempty"`
	// NotAfter is when the certificate in use expires, as RFC 3339.
	NotAfter string `json:"notAfter,omitempty"`
}

// ModelStatus is a model as the pod joined it with the schema.
type ModelStatus struct {
	Exposure string `json:"exposure"`
	UID      string `json:"uid,omitempty"`
	Name     string `json:"name"`
	// Reason is ReasonServed, or why the model is withheld. Message says more.
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// Table is schema.table, or the table alone if the engine has no schemas.
	Table string `json:"table,omitempty"`
	// Columns are the visible ones; Hidden the columns that are withheld for their secret-looking names; Key the key's
	// columns.
	Columns []string `json:"columns,omitempty"`
	Hidden  []string `json:"hidden,omitempty"`
	Key     []string `json:"key,omitempty"`
	// Masked are the Columns that are shown as ****, and ReadOnly the ones that callers never write.
	Masked   []string `json:"masked,omitempty"`
	ReadOnly []string `json:"readOnly,omitempty"`
	// ForeignKeys are those of the table that lead to a served model, if all their columns are visible and unmasked.
	ForeignKeys []ForeignKeyStatus `json:"foreignKeys,omitempty"`
	// Tools are the names of the tools that an all-powerful token has.
	Tools []string `json:"tools,omitempty"`
	// Notes say what a served model goes without, and what would help: a tool, a foreign key's relation.
	Notes []string `json:"notes,omitempty"`
}

// ForeignKeyStatus is a foreign key that the database declares: the names of its columns, and of the model that its rows name.
type ForeignKeyStatus struct {
	Columns []string `json:"columns"`
	Model   string   `json:"model"`
}

// Served reports whether the model is answered for.
func (m ModelStatus) Served() bool { return m.Reason == ReasonServed }

// Known reports whether the schema was read for the model's present declaration.
func (m ModelStatus) Known() bool {
	return m.Reason != ReasonSchemaUnknown && m.Reason != ReasonWaitingForReport
}
