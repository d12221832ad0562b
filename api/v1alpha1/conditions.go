package v1alpha1

// The condition types. Each kind uses those that its status names; all are kstatus-compatible: Reconciling and Stalled
// are abnormal-true and never both present.
const (
	ConditionReady             = "Ready"
	ConditionReconciling       = "Reconciling"
	ConditionStalled           = "Stalled"
	ConditionDatabaseReady     = "DatabaseReady"
	ConditionWorkloadAvailable = "WorkloadAvailable"
	ConditionAccepted          = "Accepted"
	ConditionResolved          = "Resolved"
	ConditionIssued            = "Issued"
	ConditionProgrammed        = "Programmed"
)

// The reasons that conditions carry, beside those that a server's pod reports (contract.Reason…).
const (
	ReasonReady             = "Ready"
	ReasonAccepted          = "Accepted"
	ReasonInvalid           = "Invalid"
	ReasonConflicted        = "Conflicted"
	ReasonEndpointNotFound  = "EndpointNotFound"
	ReasonGroupNotFound     = "GroupNotFound"
	ReasonSecretNotFound    = "SecretNotFound"
	ReasonSecretKeyMissing  = "SecretKeyMissing"
	ReasonTokenTooShort     = "TokenTooShort"
	ReasonOwnershipConflict = "OwnershipConflict"
	ReasonInactive          = "Inactive"
	ReasonExpired           = "Expired"
	ReasonIssued            = "Issued"
	ReasonProgrammed        = "Programmed"
	ReasonWaitingForPods    = "WaitingForPods"
	ReasonWaitingForToken   = "WaitingForToken"
	ReasonConfigRefused     = "ConfigRefused"
	ReasonConfigTooLarge    = "ConfigTooLarge"
	ReasonAvailable         = "Available"
	ReasonUnavailable       = "Unavailable"
	ReasonScaledToZero      = "ScaledToZero"
	ReasonUnknown           = "Unknown"
)
