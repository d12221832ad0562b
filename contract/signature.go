package contract

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
)

// PartKeySignature is the key of a part that holds its signature.
const PartKeySignature = "signature"

// signatureContext makes sure that no other signed text passes for a part of a Config.
const signatureContext = "mcp-admin Config 1"

// ErrNotSigned is returned by Verify for a part that the holder of the key did not sign for this place.
var ErrNotSigned = errors.New("the Config does not bear the manager's signature")

// Place names where a part lies, for its signature: its namespace and Secret. A part that was copied from elsewhere does
// not verify.
func Place(namespace, secret string) string { return namespace + "/" + secret }

// Sign puts the signature of a part into it.
func Sign(part Part, key ed25519.PrivateKey, place string) {
	part[PartKeySignature] = ed25519.Sign(key, signedText(part, place))
}

// Verify reports whether the holder of the key wrote this part for this place. It unpacks nothing: what a stranger wrote
// must not cost memory.
func Verify(part Part, key ed25519.PublicKey, place string) error {
	if !ed25519.Verify(key, signedText(part, place), part[PartKeySignature]) {
		return ErrNotSigned
	}
	return nil
}

// signedText is the place and all keys of a part but the signature, each with its length before it.
func signedText(part Part, place string) []byte {
	text := make([]byte, 0, len(part[PartKeyConfig])+len(place)+256)
	add := func(piece []byte) {
		text = binary.BigEndian.AppendUint64(text, uint64(len(piece)))
		text = append(text, piece...)
	}
	add([]byte(signatureContext))
	add([]byte(place))
	for _, key := range []string{PartKeyRevision, PartKeyIndex, PartKeyConfig} {
		add(part[key])
	}
	return text
}

// FormatPublicKey returns a public key as the server takes it on its command line.
func FormatPublicKey(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }

// ParsePublicKey reads what FormatPublicKey wrote.
func ParsePublicKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("a public key is %d bytes in base64", ed25519.PublicKeySize)
	}
	return key, nil
}
