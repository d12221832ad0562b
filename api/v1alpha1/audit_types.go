package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AuditLinesSpec says what audit lines tell beside changes and refusals, in which form, and where they go.
type AuditLinesSpec struct {
	// reads has each call that reads tell its line: Summary says who asked what, without values, and how many rows the answer had;
	// Rows also the ids of the first 100. None when absent.
	// +optional
	Reads AuditReads `json:"reads,omitempty"`
	// format is JSON for lines of the server's own, or OCSF for events of the Open Cybersecurity Schema Framework: its class Datastore
	// Activity, with the profile for AI operations. JSON when absent.
	// +optional
	Format AuditFormat `json:"format,omitempty"`
	// delivery is Required for calls that fail if their line cannot be written to standard output or files. A call that changes something then has a line before it,
	// too, with the outcome intent; a call that reads is answered after its line is written. With BestEffort, the default, such lines are
	// lost, and the log and a metric say how many.
	// +optional
	Delivery AuditDelivery `json:"delivery,omitempty"`
	// files keep the lines in files of a claim, too: beside the standard output of the pods, whose logs go with them.
	// +optional
	Files *AuditFilesSpec `json:"files,omitempty"`
	// otlp sends the lines to a collector of OpenTelemetry, too, as log records; none when absent. No call waits for it, whatever
	// delivery says: lines that the collector does not take are lost there, and a metric counts them.
	// +optional
	OTLP *CollectorSpec `json:"otlp,omitempty"`
}

// AuditReads says how much audit lines tell about calls that read.
// +kubebuilder:validation:Enum=None;Summary;Rows
type AuditReads string

// The lines about calls that read.
const (
	AuditReadsNone    AuditReads = "None"
	AuditReadsSummary AuditReads = "Summary"
	AuditReadsRows    AuditReads = "Rows"
)

// AuditFormat is the form of audit lines.
// +kubebuilder:validation:Enum=JSON;OCSF
type AuditFormat string

// The forms of audit lines.
const (
	AuditFormatJSON AuditFormat = "JSON"
	AuditFormatOCSF AuditFormat = "OCSF"
)

// AuditDelivery says what becomes of a call whose audit line cannot be written.
// +kubebuilder:validation:Enum=BestEffort;Required
type AuditDelivery string

// What becomes of a call whose line cannot be written.
const (
	AuditDeliveryBestEffort AuditDelivery = "BestEffort"
	AuditDeliveryRequired   AuditDelivery = "Required"
)

// AuditFilesSpec keeps audit lines in files. Each pod has files of its own, in the folder of the claim that has the endpoint's name. A new
// one begins each day, and when one is full. Nothing is removed unless retentionPeriod or maxTotalBytes says so.
// +kubebuilder:validation:XValidation:rule="!has(self.maxFileBytes) || !has(self.maxTotalBytes) || self.maxFileBytes <= self.maxTotalBytes",message="maxFileBytes must not be above maxTotalBytes, which is of all files together"
type AuditFilesSpec struct {
	// claimRef names a PersistentVolumeClaim of the endpoint's namespace. Pods on several nodes need one with the access mode ReadWriteMany.
	// +required
	ClaimRef ClaimReference `json:"claimRef,omitzero"`
	// maxFileBytes is about how many bytes a file gets; when absent a quarter of maxTotalBytes, at most 104857600 (100 MiB).
	// +optional
	// +kubebuilder:validation:Minimum=1048576
	// +kubebuilder:validation:Maximum=10737418240
	MaxFileBytes int64 `json:"maxFileBytes,omitempty"`
	// maxTotalBytes is how many bytes all files of the endpoint may have together: those whose last lines are the oldest are removed. Each
	// further pod may add a hundredth. No bound when absent.
	// +optional
	// +kubebuilder:validation:Minimum=1048576
	MaxTotalBytes int64 `json:"maxTotalBytes,omitempty"`
	// retentionPeriod is how long a file stays after its last line; for ever when absent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('24h') && duration(self) <= duration('87600h')",message="must be a duration such as 2160h, which is 90 days, between 24h and 87600h"
	RetentionPeriod *metav1.Duration `json:"retentionPeriod,omitempty"`
}

// ClaimReference names a PersistentVolumeClaim in the endpoint's namespace.
type ClaimReference struct {
	// name is the claim's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	Name string `json:"name,omitempty"`
}

// EffectiveMaxFileBytes is maxFileBytes, or its default.
func (f *AuditFilesSpec) EffectiveMaxFileBytes() int64 {
	switch {
	case f.MaxFileBytes > 0:
		return f.MaxFileBytes
	case f.MaxTotalBytes > 0:
		return min(100<<20, f.MaxTotalBytes/4)
	}
	return 100 << 20
}
