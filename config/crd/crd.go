// Package crd holds the CustomResourceDefinitions as they are installed, so that manifests can be checked against them
// without a cluster.
package crd

import "embed"

// Bases are the definitions, one a file.
//
//go:embed bases/*.yaml
var Bases embed.FS
