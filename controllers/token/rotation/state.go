package rotation

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// The annotations of a generated token's Secret. They say what was issued, and the last of them that the manager wrote
// the others.
const (
	// HashAnnotation is the hex SHA-256 of the text in use. A text with another hash was put there by somebody else.
	HashAnnotation = "mcpadmin.dev/token-hash"
	// IssuedAtAnnotation is when the text in use was written.
	IssuedAtAnnotation = "mcpadmin.dev/token-issued-at"
	// NextHashAnnotation is the hash of the text that is about to replace the one in use.
	NextHashAnnotation = "mcpadmin.dev/token-next-hash"
	// PreviousHashAnnotation is the hash of the text before; it works until PreviousUntilAnnotation.
	PreviousHashAnnotation  = "mcpadmin.dev/token-previous-hash"
	PreviousUntilAnnotation = "mcpadmin.dev/token-previous-until"
	// RotatedForAnnotation is the value of v1alpha1.RotateAnnotation that was answered last.
	RotatedForAnnotation = "mcpadmin.dev/token-rotated-for"
	// AuthenticatorAnnotation is a code over the others and the MCPToken's namespace and name, made with a key that only the
	// manager has.
	AuthenticatorAnnotation = "mcpadmin.dev/token-mac"
)

// stateAnnotations are all of them.
var stateAnnotations = []string{
	HashAnnotation, IssuedAtAnnotation, NextHashAnnotation, PreviousHashAnnotation, PreviousUntilAnnotation, RotatedForAnnotation,
	AuthenticatorAnnotation,
}

// Without returns the merge patch that takes a State out of a Secret's annotations; nil if they have none.
func Without(annotations map[string]string) map[string]any {
	var patch map[string]any
	for _, name := range stateAnnotations {
		if _, there := annotations[name]; there {
			if patch == nil {
				patch = map[string]any{}
			}
			patch[name] = nil
		}
	}
	return patch
}

// State describes the texts of a generated token, in its Secret's annotations.
type State struct {
	// Hash is the hash of the text in use, Next of the text that will replace it, Previous of the text before.
	Hash, Next, Previous string
	// PreviousUntil is the moment from which Previous is refused.
	PreviousUntil time.Time
	// IssuedAt is when the text in use was written; zero if that is not known.
	IssuedAt time.Time
	// RotatedFor is the request for a rotation that was answered last.
	RotatedFor string
}

// ReadState reads a Secret's annotations.
func ReadState(annotations map[string]string) State {
	return State{
		Hash: annotations[HashAnnotation], Next: annotations[NextHashAnnotation], Previous: annotations[PreviousHashAnnotation],
		PreviousUntil: readTime(annotations[PreviousUntilAnnotation]),
		IssuedAt:      readTime(annotations[IssuedAtAnnotation]),
		RotatedFor:    annotations[RotatedForAnnotation],
	}
}

// Hashes returns the hashes of the texts that are let in at a moment.
func (s State) Hashes(now time.Time) []string {
	var hashes []string
	for _, hash := range []string{s.Hash, s.Next} {
		if hash != "" {
			hashes = append(hashes, hash)
		}
	}
	if s.overlaps(now) && !slices.Contains(hashes, s.Previous) {
		hashes = append(hashes, s.Previous)
	}
	slices.Sort(hashes)
	return hashes
}

// overlaps reports whether the text before the present one still works.
func (s State) overlaps(now time.Time) bool { return s.Previous != "" && now.Before(s.PreviousUntil) }

// Annotations are the state as annotations, with the code that proves who wrote them.
func (s State) Annotations(key Key, of types.NamespacedName) map[string]string {
	annotations := map[string]string{HashAnnotation: s.Hash}
	for name, value := range map[string]string{
		NextHashAnnotation: s.Next, PreviousHashAnnotation: s.Previous, RotatedForAnnotation: s.RotatedFor,
		PreviousUntilAnnotation: writeTime(s.PreviousUntil), IssuedAtAnnotation: writeTime(s.IssuedAt),
	} {
		if value != "" {
			annotations[name] = value
		}
	}
	annotations[AuthenticatorAnnotation] = base64.StdEncoding.EncodeToString(key.authenticate(annotations, of))
	return annotations
}

// Key proves that the manager itself wrote a token's Secret. Who may make Secrets, and knows a text, must not be able to
// plant one that becomes a token.
type Key []byte

// NewKey derives the key from the key that signs Configs.
func NewKey(signing ed25519.PrivateKey) Key {
	key, err := hkdf.Key(sha256.New, signing.Seed(), nil, "mcp-admin token Secrets 1", sha256.Size)
	if err != nil {
		panic(err) // the lengths are constants: it cannot fail
	}
	return key
}

// Wrote reports whether the manager wrote these annotations for an MCPToken of that name.
func (k Key) Wrote(annotations map[string]string, of types.NamespacedName) bool {
	code, err := base64.StdEncoding.DecodeString(annotations[AuthenticatorAnnotation])
	return err == nil && hmac.Equal(code, k.authenticate(annotations, of))
}

// authenticate is the code over a token's name and the annotations of its state, each with its length before it.
func (k Key) authenticate(annotations map[string]string, of types.NamespacedName) []byte {
	code := hmac.New(sha256.New, k)
	for _, piece := range []string{
		of.Namespace, of.Name, annotations[HashAnnotation], annotations[IssuedAtAnnotation], annotations[NextHashAnnotation],
		annotations[PreviousHashAnnotation], annotations[PreviousUntilAnnotation], annotations[RotatedForAnnotation],
	} {
		code.Write(binary.BigEndian.AppendUint64(nil, uint64(len(piece))))
		code.Write([]byte(piece))
	}
	return code.Sum(nil)
}

func writeTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// readTime returns the zero time for what is no time.
func readTime(text string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, text)
	return t
}
