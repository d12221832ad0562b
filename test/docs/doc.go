// Package docs tests what the documents say: that every field is explained, that every reference to a document leads to
// a heading of it, and that every example gives the answer that stands below it.
package docs
