// Package rotation is the policy of generated tokens: when a token is issued or rotated, and what its Secret holds. It is
// pure: no client, no clock, no randomness.
//
// The controllers import it; it imports the contract and the API, and nothing else of the project.
package rotation

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Content is the data of a generated token's Secret: each key in its format.
func Content(keys []v1alpha1.TokenSecretKey, endpoint, url, text string) map[string][]byte {
	content := make(map[string][]byte, len(keys))
	for _, k := range keys {
		content[k.Key] = formatted(k.Format, endpoint, url, text)
	}
	return content
}

func formatted(format v1alpha1.TokenFormat, endpoint, url, text string) []byte {
	switch format {
	case v1alpha1.FormatURL:
		return []byte(url)
	case v1alpha1.FormatMCPServers:
		return contract.ClientConfiguration(endpoint, url, text)
	case v1alpha1.FormatVSCode:
		return contract.VSCodeConfiguration(endpoint, url, text)
	case v1alpha1.FormatCodex:
		return contract.CodexConfiguration(endpoint, url, text)
	case v1alpha1.FormatGeminiCLI:
		return contract.GeminiConfiguration(endpoint, url, text)
	case v1alpha1.FormatDotEnv:
		return contract.EnvironmentFile(url, text)
	}
	return []byte(text)
}

// Find returns the text with a hash among what a Secret holds, whatever its key is called now; "" if there is none. Only
// the text of a generated token is found: a shorter one was put there by somebody else.
func Find(data map[string][]byte, hash string) string {
	return find(data, func(h string) bool { return h == hash })
}

// Fingerprint is as much of a text's hash as tells it from every other, and too little to let its holder in by a Secret with
// a hash.
func Fingerprint(hash string) string { return hash[:min(len(hash), 32)] }

// FindByFingerprint is Find for the text whose hash has a Fingerprint.
func FindByFingerprint(data map[string][]byte, fingerprint string) string {
	return find(data, func(h string) bool { return Fingerprint(h) == fingerprint })
}

func find(data map[string][]byte, wanted func(hash string) bool) string {
	for _, value := range data {
		if text := string(value); contract.PublicTokenID(text) != "" && wanted(contract.HashToken(text)) {
			return text
		}
	}
	return ""
}
