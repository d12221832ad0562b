package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AllowedTokens says which tokens of other namespaces may use an endpoint, and with which groups. Such a token has no
// permissions and no attributes of its own: what it may do is the endpoint's author's decision.
type AllowedTokens struct {
	// namespaces are those whose tokens are allowed, in addition to the endpoint's own.
	// +required
	Namespaces TokenNamespaces `json:"namespaces,omitzero"`
	// groups are the groups that tokens of other namespaces may name. Absent, none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Groups []string `json:"groups,omitempty"`
}

// TokenNamespaces chooses namespaces.
//
// +kubebuilder:validation:XValidation:rule="(self.from == 'Selector') == has(self.selector)",message="selector must be given if from is Selector, and only then"
type TokenNamespaces struct {
	// from is Same (the endpoint's own alone), Selector (those whose labels the selector matches), or All.
	// +required
	From FromNamespaces `json:"from,omitempty"`
	// selector is over the namespaces' labels.
	// +optional
	Selector *NamespaceSelector `json:"selector,omitempty"`
}

// FromNamespaces says how namespaces are chosen.
// +kubebuilder:validation:Enum=Same;Selector;All
type FromNamespaces string

// The ways to choose namespaces.
const (
	NamespacesSame     FromNamespaces = "Same"
	NamespacesSelector FromNamespaces = "Selector"
	NamespacesAll      FromNamespaces = "All"
)

// NamespaceSelector is a label selector: a namespace must have every label, and meet every expression.
//
// +kubebuilder:validation:XValidation:rule="has(self.matchLabels) || has(self.matchExpressions)",message="give matchLabels or matchExpressions; from: All is for every namespace"
type NamespaceSelector struct {
	// matchLabels are labels that a namespace must have.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !format.labelValue().validate(self[k]).hasValue())",message="must be labels"
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`
	// matchExpressions are requirements that a namespace's labels must meet.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	MatchExpressions []NamespaceRequirement `json:"matchExpressions,omitempty"`
}

// NamespaceRequirement is one requirement of a label selector.
//
// +kubebuilder:validation:XValidation:rule="(self.operator in ['In', 'NotIn']) == has(self.values)",message="values must be given for In and NotIn, and only then"
type NamespaceRequirement struct {
	// key is the label's key.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="!format.qualifiedName().validate(self).hasValue()",message="must be the key of a label"
	Key string `json:"key,omitempty"`
	// operator is how the label's value is compared.
	// +required
	Operator NamespaceOperator `json:"operator,omitempty"`
	// values are the values that In and NotIn compare with.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="self.all(v, !format.labelValue().validate(v).hasValue())",message="must be values of labels"
	Values []LabelValue `json:"values,omitempty"`
}

// NamespaceOperator is how a label's value is compared.
// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
type NamespaceOperator string

// LabelSelector is the selector in the form of Kubernetes' own kinds.
func (s *NamespaceSelector) LabelSelector() *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	for key, value := range s.MatchLabels {
		metav1.AddLabelToSelector(selector, key, string(value))
	}
	for _, r := range s.MatchExpressions {
		requirement := metav1.LabelSelectorRequirement{Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator)}
		for _, value := range r.Values {
			requirement.Values = append(requirement.Values, string(value))
		}
		selector.MatchExpressions = append(selector.MatchExpressions, requirement)
	}
	return selector
}
