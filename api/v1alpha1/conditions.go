package v1alpha1

// The condition types. Each kind uses the conditions that its status names; all are kstatus-compatible: Reconciling and
// Stalled are abnormal-true and never both present.
const (
	ConditionReady             = "Ready"
	ConditionReconciling       = "Reconciling"
	ConditionStalled           = "Stalled"
	ConditionDatabaseReady     = "DatabaseReady"
	ConditionWorkloadAvailable = "WorkloadAvailable"
	ConditionRouted            = "Routed"
	ConditionMonitored         = "Monitored"
	ConditionAccepted          = "Accepted"
	ConditionResolved          = "Resolved"
	ConditionIssued            = "Issued"
	ConditionProgrammed        = "Programmed"
	// ConditionAuthenticationReady is there if tokens that somebody else issues are checked.
	ConditionAuthenticationReady = "AuthenticationReady"
	// ConditionApprovalsReady is there if calls wait for approvals.
	ConditionApprovalsReady = "ApprovalsReady"
	// The conditions of an MCPApproval.
	ConditionApproved   = "Approved"
	ConditionDenied     = "Denied"
	ConditionExpired    = "Expired"
	ConditionExecuted   = "Executed"
	ConditionWithdrawn  = "Withdrawn"
	ConditionSuperseded = "Superseded"
	// ConditionPaused is there while an object bears PausedAnnotation. It does not count for Ready.
	ConditionPaused = "Paused"
	// ConditionExpiresSoon is there while a token that is in force expires soon. It does not count for Ready.
	ConditionExpiresSoon = "ExpiresSoon"
)

// The reasons that conditions carry, besides the reasons that a server's pod reports (contract.Reason…).
const (
	ReasonReady            = "Ready"
	ReasonAccepted         = "Accepted"
	ReasonInvalid          = "Invalid"
	ReasonConflicted       = "Conflicted"
	ReasonEndpointNotFound = "EndpointNotFound"
	ReasonGroupNotFound    = "GroupNotFound"
	ReasonSecretNotFound   = "SecretNotFound"
	ReasonSecretKeyMissing = "SecretKeyMissing"
	// ReasonSecretNotAllowed: the Secret does not name the endpoint in its annotation AllowEndpointsAnnotation, which the
	// manager was told to ask for.
	ReasonSecretNotAllowed  = "SecretNotAllowed"
	ReasonTokenTooShort     = "TokenTooShort"
	ReasonOwnershipConflict = "OwnershipConflict"
	ReasonImageNotAllowed   = "ImageNotAllowed"
	// ReasonDuckDBImageMissing: the endpoint needs an image with DuckDB, and neither it nor the manager names one.
	ReasonDuckDBImageMissing = "DuckDBImageMissing"
	ReasonInactive           = "Inactive"
	ReasonExpired            = "Expired"
	ReasonExpiresSoon        = "ExpiresSoon"
	ReasonPaused             = "Paused"
	ReasonIssued             = "Issued"
	ReasonProgrammed         = "Programmed"
	// ReasonNotNeeded: the token is for callers whose tokens somebody else issues, so there is none to issue.
	ReasonNotNeeded = "NotNeeded"
	// ReasonIssuerNotFound: the endpoint has no issuer of the name that the token says.
	ReasonIssuerNotFound = "IssuerNotFound"
	// ReasonAudienceMissing: nobody said for whom an issuer's tokens must have been issued, so none is accepted.
	ReasonAudienceMissing = "AudienceMissing"
	ReasonWaitingForPods  = "WaitingForPods"
	ReasonWaitingForToken = "WaitingForToken"
	ReasonConfigRefused   = "ConfigRefused"
	ReasonConfigTooLarge  = "ConfigTooLarge"
	ReasonAvailable       = "Available"
	ReasonUnavailable     = "Unavailable"
	ReasonScaledToZero    = "ScaledToZero"
	ReasonUnknown         = "Unknown"
	// ReasonRollingOut: pods of the newest pod template are not all there yet.
	ReasonRollingOut = "RollingOut"
	// ReasonPodTemplateInvalid: the fields of spec.server, or its podTemplate, make pods that the server cannot run in.
	ReasonPodTemplateInvalid = "PodTemplateInvalid"
	// ReasonConfigMapNotFound: the ConfigMap with the SQL for a new SQLite file is missing.
	ReasonConfigMapNotFound = "ConfigMapNotFound"
	// ReasonEndpointInvalid: the endpoint has never been valid, so nothing can be served from it.
	ReasonEndpointInvalid = "EndpointInvalid"
	// ReasonConfigNotWritten: the change has not reached the Config; the message says why.
	ReasonConfigNotWritten = "ConfigNotWritten"
	// ReasonRemovalPending: a pod has not applied a change that takes access away, for longer than it should take.
	ReasonRemovalPending = "RemovalPending"
	// ReasonWaitingForReport: no server pod has said yet how it found the table.
	ReasonWaitingForReport = "WaitingForReport"
	// ReasonWebhookSecretInvalid: the Secret of a webhook is not for the webhook's host, or holds what is no header.
	ReasonWebhookSecretInvalid = "WebhookSecretInvalid"
	// ReasonSecretImmutable: the token's Secret would have to change, and is immutable.
	ReasonSecretImmutable = "SecretImmutable"
	// ReasonGroupNotAllowed: the token names a group that the endpoint does not allow tokens of other namespaces.
	ReasonGroupNotAllowed = "GroupNotAllowed"
	// ReasonNamespacesNotWatched: the endpoint allows tokens of other namespaces, and the manager watches only some.
	ReasonNamespacesNotWatched = "NamespacesNotWatched"
	// ReasonAuditUnavailable: the audit table cannot be used, so nothing is written; the message says what makes it.
	ReasonAuditUnavailable = "AuditUnavailable"
	// ReasonApprovalsTaken: what people decide is taken.
	ReasonApprovalsTaken = "ApprovalsTaken"
	// ReasonApprovalPolicyInvalid: a policy of spec.approvals names what does not exist, and holds back everything of its operations.
	ReasonApprovalPolicyInvalid = "ApprovalPolicyInvalid"
	// ReasonAdmissionPolicyMissing: no decision is taken, as nobody checks who may decide.
	ReasonAdmissionPolicyMissing = "AdmissionPolicyMissing"
	// ReasonAuditLinesFailing: a pod cannot write audit lines without which calls are refused; the message says why.
	ReasonAuditLinesFailing = "AuditLinesFailing"
	// ReasonRouted: agents are led to the server's pods.
	ReasonRouted = "Routed"
	// ReasonMonitored: the metrics of the server's pods are read.
	ReasonMonitored = "Monitored"
	// ReasonKindNotInstalled: an object is asked for whose kind the cluster does not have.
	ReasonKindNotInstalled = "KindNotInstalled"
	// ReasonRouteNotAccepted: a Gateway refuses the HTTPRoute; the message says why.
	ReasonRouteNotAccepted = "RouteNotAccepted"
	// ReasonWaitingForGateway: no Gateway's controller has said anything about the HTTPRoute.
	ReasonWaitingForGateway = "WaitingForGateway"
	// ReasonWaitingForAddress: the Ingress or the Service of type LoadBalancer has no address.
	ReasonWaitingForAddress = "WaitingForAddress"
	// ReasonResolved: the table was found.
	ReasonResolved = "Resolved"
)

// AllowEndpointsAnnotation is the annotation of a Secret that names the endpoints, with commas between, that may use it;
// "*" is every one. The manager asks for it if it was told to (--require-secret-opt-in).
const AllowEndpointsAnnotation = "mcpadmin.dev/allow-endpoints"
