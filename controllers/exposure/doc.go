// Package exposure reconciles an MCPModelExposure: it writes the status from what the endpoint's program knows of the exposure.
//
// Package controllers imports it, and nothing else does.
package exposure
