package report

import (
	"encoding/json"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kept are the fields of a spec whose texts stay, by the last name of their path: names of things, and settings. The text of every
// other field is left out; numbers and booleans stay.
var kept = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`name namespace endpointRef model models table schema schemas groups verbs actions fields field column columns
		hide hidden mask masked readOnly type kind key engine access mode reads format delivery recordArguments recordStatements statementTimeout interval protocol sampler level issuer
		catalogue structuredContent searchMode search orderBy versionField foreignKey relation through tokenAttribute callerAttribute
		exposure targetPort className secretName ttl expiry every policy delete onDelete listed examples metrics nullable unit ordering
		imagePullPolicy whenUnsatisfiable topologyKey operator effect cpu memory storage minAvailable maxUnavailable`) {
		kept[name] = true
	}
}

// dropped are the fields that go with all that is in them: people write anything there, or connection strings.
var dropped = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`podTemplate env volumes volumeMounts sql statements init url urls value values annotations arguments
		filters conditions expression claims attributes headers description instructions title label labels template body where set defaults
		host hosts matchLabels matchExpressions podLabels podAnnotations caBundle`) {
		dropped[name] = true
	}
}

// leftOut stands for what was left out of an object.
const leftOut = "(left out)"

// cleanSpec returns a spec with names and settings alone.
func cleanSpec(spec any) (any, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return clean("", value), nil
}

// clean cleans the value of a field of that name.
func clean(field string, value any) any {
	if dropped[field] {
		return leftOut
	}
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = clean(name, inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = clean(field, inner)
		}
	case string:
		if !kept[field] {
			return leftOut
		}
	}
	return value
}

// about returns an object's metadata for the report. Annotations are left out, because people may write anything there, and of the labels
// all but the operator's.
func about(m *metav1.ObjectMeta) map[string]any {
	a := map[string]any{"namespace": m.Namespace, "name": m.Name, "uid": m.UID, "generation": m.Generation, "creationTimestamp": m.CreationTimestamp}
	if m.DeletionTimestamp != nil {
		a["deletionTimestamp"] = m.DeletionTimestamp
	}
	if len(m.Finalizers) > 0 {
		a["finalizers"] = m.Finalizers
	}
	labels := map[string]string{}
	for name, value := range m.Labels {
		if strings.HasPrefix(name, "mcpadmin.dev/") {
			labels[name] = value
		}
	}
	if len(labels) > 0 {
		a["labels"] = labels
	}
	return a
}

// secretLike are texts that look like secrets; what the first group matches stays.
var secretLike = []*regexp.Regexp{
	regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s"']+@`),                                                                             // the login of a URL
	regexp.MustCompile(`()\bmcp_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`),                                                                            // a token's text
	regexp.MustCompile(`()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`),                                                          // a JWT
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}`),                                                                 // an Authorization header
	regexp.MustCompile(`(?i)(\b[\w-]*(?:password|passwd|pwd|[_-]secret|api[_-]?key|private[_-]?key)["']?[ \t]*[=:][ \t]*["']?)[^\s"',;&]+`), // key=value
	regexp.MustCompile(`(?s)()-----BEGIN [A-Z ]+-----.*?-----END [A-Z ]+-----`),                                                             // PEM
}

// blotted stands for what looked like a secret.
const blotted = "(blotted out)"

// blot takes out what looks like a secret.
func blot(text []byte) []byte {
	for _, like := range secretLike {
		text = like.ReplaceAllFunc(text, func(found []byte) []byte {
			if severity.Match(found) {
				return found
			}
			return like.ReplaceAll(found, []byte("${1}"+blotted))
		})
	}
	return text
}

// severity is how PostgreSQL begins a message, in which no secret stands: "wrong password: FATAL: password authentication failed".
var severity = regexp.MustCompile(`: (?:FATAL|ERROR|PANIC):$`)
