package controllers

import (
	"context"
	"errors"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Servers of the last release read the whole Config from one Secret. As long as an endpoint has such pods, that Secret is
// kept up to date; then it is emptied, so that no late pod lets anybody in with what it says.
//
// If a manager of the last release wrote that Secret last, pods of this release answer from it too, until it is marked:
// "the parts count". It is marked once all parts are stored, so that nobody answers from parts that are older than it.

// version2State is what is known of that Secret.
type version2State struct {
	// exists reports whether there is one, revision is what it holds.
	exists   bool
	revision int64
	// marked reports whether it says that the parts count; closed whether it lets nobody in besides.
	marked, closed bool
	// handedOver reports whether the parts do count: they have been stored since a manager of the last release wrote.
	handedOver bool
	// wanted reports whether a pod was seen that does not read the parts.
	wanted bool
}

// loadVersion2 reads the Config of the last release; nil if there is none of ours.
func (r *configReconciler) loadVersion2(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program) (*contract.Config, error) {
	read, err := r.secrets.read(ctx, e, e.ConfigSecretName())
	var foreign ownershipConflict
	if errors.As(err, &foreign) {
		return nil, nil // nothing reads it
	}
	if err != nil || !read.exists {
		return nil, err
	}
	state := version2State{exists: true}
	var whole *contract.Config
	if read.part != nil {
		if whole, state.marked, err = contract.DecodeVersion2(read.part); err == nil {
			state.revision, state.closed = whole.Revision, state.marked && len(whole.Tokens) == 0 && len(whole.Models) == 0
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	state.wanted, state.handedOver = p.version2.wanted, p.version2.handedOver || state.marked
	p.version2 = state
	return whole, nil
}

// hasHandedOver reports whether the parts count, and not the Config of the last release.
func (p *program) hasHandedOver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version2.handedOver
}

// handOver makes the parts count if all of them are stored, and reports whether they did not count before.
func (p *program) handOver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.version2.handedOver || !p.compiler.Stored() {
		return false
	}
	p.version2.handedOver = true
	return true
}

// writeVersion2 writes the Config in the form of the last release as long as pods read it.
func (r *configReconciler) writeVersion2(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program) error {
	whole, closing := p.wholeForVersion2()
	if whole == nil {
		return nil
	}
	marked := p.hasHandedOver()
	part, err := contract.EncodeVersion2(whole, marked)
	if errors.Is(err, contract.ErrTooLarge) {
		// What is stored may let somebody in who was revoked.
		closing = true
		part, err = contract.EncodeVersion2(emptied(whole), marked)
	}
	if err != nil {
		return err
	}
	if err := r.secrets.write(ctx, e, e.ConfigSecretName(), part); err != nil {
		var foreign ownershipConflict
		if _, readError := r.secrets.read(ctx, e, e.ConfigSecretName()); errors.As(readError, &foreign) {
			return nil // somebody else has the name, and our pods take nothing from there
		}
		return r.notWritten(e, p, err)
	}
	if closing {
		ctrl.LoggerFrom(ctx).Info("The Config of the last release was emptied: no pod reads it", "endpoint", klog.KObj(e))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version2.exists, p.version2.revision, p.version2.marked, p.version2.closed = true, whole.Revision, marked, closing
	return nil
}

// wholeForVersion2 is the Config to write for pods of the last release; nil if what is stored will do. closing reports
// whether it lets nobody in, because no pod reads it.
func (p *program) wholeForVersion2() (whole *contract.Config, closing bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	due, closing := p.version2Due()
	if !due {
		return nil, false
	}
	if whole = p.compiler.Whole(); whole != nil && closing {
		whole = emptied(whole)
	}
	return whole, closing
}

// version2Due reports whether that Secret must be written, and whether so that it lets nobody in. The caller holds the
// lock.
func (p *program) version2Due() (due, closing bool) {
	v := &p.version2
	read, unheard := p.reports.readVersion2()
	if read || v.wanted || v.exists && !v.closed && (unheard || p.ending || len(p.reports) == 0 || !v.handedOver) {
		return v.revision < p.compiler.Revision() || v.closed || !v.exists || v.handedOver && !v.marked, false
	}
	return v.exists && !v.closed && p.compiler.StoredMain(), true
}

// configDue reports whether the pods' reports give the config reconciler something to do.
func (p *program) configDue() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.compiled || p.compiler.Main() == nil {
		return false
	}
	due, _ := p.version2Due()
	published, _ := p.compiler.Layout()
	return due || published.Before > 0 && p.reports.haveLayout(published.Parts)
}

// emptied is a Config with nobody and nothing in it.
func emptied(c *contract.Config) *contract.Config {
	empty := *c
	empty.Models, empty.Tokens, empty.Groups = nil, nil, nil
	return &empty
}
