package contract

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
)

// PartKeySignature is the key of the first part that holds the signature of all of them.
const PartKeySignature = "signature"

// signatureContext makes sure that no other signed text passes for a Config.
const signatureContext = "mcp-admin Config 1"

// ErrNotSigned is returned by Verify for parts that the holder of the key did not sign for this place.
var ErrNotSigned = errors.New("the Config does not bear the manager's signature")

// Place names where a Config lies, for its signature: the namespace and the Secret of its first part. A Config that was
// copied from another endpoint does not verify.
func Place(namespace, secret string) string { return namespace + "/" + secret }

// Sign puts the signature of a Config's parts into the first of them.
func Sign(parts []Part, key ed25519.PrivateKey, place string) {
	parts[0][PartKeySignature] = ed25519.Sign(key, signedText(parts, place))
}

// Verify reports whether the holder of the key wrote these parts for this place. It unpacks nothing: what a stranger
// wrote must not cost memory.
func Verify(parts []Part, key ed25519.PublicKey, place string) error {
	if len(parts) == 0 || !ed25519.Verify(key, signedText(parts, place), parts[0][PartKeySignature]) {
		return ErrNotSigned
	}
	return nil
}

// signedText is the place and all keys of all parts but the signature, each with its length before it.
func signedText(parts []Part, place string) []byte {
	size := 0
	for _, part := range parts {
		size += len(part[PartKeyConfig]) + 128
	}
	text := make([]byte, 0, size+len(place))
	add := func(piece []byte) {
		text = binary.BigEndian.AppendUint64(text, uint64(len(piece)))
		text = append(text, piece...)
	}
	add([]byte(signatureContext))
	add([]byte(place))
	for _, part := range parts {
		for _, key := range []string{PartKeyRevision, PartKeyIndex, PartKeyCount, PartKeyConfig} {
			add(part[key])
		}
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
