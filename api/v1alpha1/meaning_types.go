package v1alpha1

import "k8s.io/apimachinery/pkg/runtime"

// MeasureSpec is a number that people of the organization know by a name. Agents ask for it by that name: measures: ["revenue"] of
// aggregate_, alone or beside measures of their own.
type MeasureSpec struct {
	// name is what agents call the measure.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`
	Name string `json:"name,omitempty"`
	// description tells agents what the number means: what counts, and what does not.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1000
	Description string `json:"description,omitempty"`
	// synonyms are other words for it. find_models finds the model by them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Synonyms []string `json:"synonyms,omitempty"`
	// measure is what a call of aggregate_ would send: {sum: total}, {count: "*", filters: {status: paid}}. A measure of measures
	// ({ratio: [revenue, orders]}) names others that are declared. A token that may not see a field of it does not have the measure.
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Measure runtime.RawExtension `json:"measure,omitempty,omitzero"`
}

// QuestionSpec is a question that people ask of the model, with the call that answers it. Prompts for the model show both to tokens
// that may make the call.
type QuestionSpec struct {
	// ask is the question, as people put it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=300
	Ask string `json:"ask,omitempty"`
	// call answers it. It is made once when the endpoint starts, and when the exposure or the database's schema changes, with a
	// token that may view everything; what fails is a note of the status.
	// +required
	Call QuestionCall `json:"call,omitzero"`
}

// QuestionCall is a call of one of the model's tools that read.
type QuestionCall struct {
	// tool is the tool without the model's name: aggregate stands for aggregate_<model>.
	// +required
	Tool QuestionTool `json:"tool,omitempty"`
	// arguments are what the call sends; absent, none.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Arguments runtime.RawExtension `json:"arguments,omitempty,omitzero"`
}

// QuestionTool is a tool that reads.
// +kubebuilder:validation:Enum=list;get;aggregate;related;autocomplete;describe
type QuestionTool string

// SegmentSpec is a condition on rows that people of the organization know by a name. Agents send that name: segments: ["active"] of
// list_ and aggregate_, or {"_segment": "active"} wherever conditions stand.
type SegmentSpec struct {
	// name is what agents call the segment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`
	Name string `json:"name,omitempty"`
	// description tells agents which rows these are.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1000
	Description string `json:"description,omitempty"`
	// synonyms are other words for it. find_models finds the model by them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Synonyms []string `json:"synonyms,omitempty"`
	// filters are what a call of list_ would send as filters: {status: open, due__lt: {_now: 0d}}. A segment names no other segment.
	// A token that may not see a field of it does not have the segment. It is no guard: callers choose whether they send it. What a
	// token may see at all is for rowPolicies.
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Filters runtime.RawExtension `json:"filters,omitempty,omitzero"`
}
