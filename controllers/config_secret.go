package controllers

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// configParts is how many Secrets a Config may take.
const configParts = 1

// storedConfig is the Config as it lies in the API server.
type storedConfig struct {
	// secret is nil if there is none.
	secret *corev1.Secret
	// config is nil if there is no Secret, or none that can be read.
	config *contract.Config
	// floor is the revision of a Config of ours that this version cannot read.
	floor int64
}

// configSecrets reads and writes Config Secrets. It signs what it writes, and reads only what it signed. It does not
// even unpack anything else. It remembers the last Config of each endpoint, so that it is unpacked once. It is safe for
// concurrent use.
type configSecrets struct {
	children *children
	key      ed25519.PrivateKey

	// last is what was read last, written the highest revision that was written.
	last    memo[types.NamespacedName, storedConfig]
	written memo[types.NamespacedName, int64]
}

// read returns the Config that is written at present. floor is the highest revision that is known to have been written:
// a cached Secret below it is read again from the API server. A Secret that is not the endpoint's is an
// ownershipConflict.
func (c *configSecrets) read(ctx context.Context, e *v1alpha1.MCPEndpoint, floor int64) (storedConfig, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.ConfigSecretName()}}
	seen := metadataOf("Secret")
	if last, known := c.last.get(keyOf(e)); known && last.config != nil && last.config.Revision >= floor &&
		c.children.cached.Get(ctx, keyOf(secret), seen) == nil && seen.ResourceVersion == last.secret.ResourceVersion {
		return last, nil
	}
	found, err := c.children.find(ctx, e, secret)
	if err != nil || !found {
		return storedConfig{}, err
	}
	stored := c.decode(e, secret)
	if stored.config == nil || stored.config.Revision < floor {
		if found, err = c.children.findLive(ctx, e, secret); err != nil || !found {
			return storedConfig{}, err
		}
		stored = c.decode(e, secret)
	}
	return stored, nil
}

func (c *configSecrets) decode(e *v1alpha1.MCPEndpoint, secret *corev1.Secret) storedConfig {
	if last, _ := c.last.get(keyOf(e)); last.secret != nil && last.secret.UID == secret.UID && last.secret.ResourceVersion == secret.ResourceVersion {
		return last
	}
	stored := c.open(secret)
	c.last.set(keyOf(e), stored)
	return stored
}

// open unpacks a Config Secret, if we signed it.
func (c *configSecrets) open(secret *corev1.Secret) storedConfig {
	stored := storedConfig{secret: secret.DeepCopy()}
	parts := []contract.Part{secret.Data}
	if contract.Verify(parts, c.key.Public().(ed25519.PublicKey), contract.Place(secret.Namespace, secret.Name)) != nil {
		return stored
	}
	if config, err := contract.Decode(parts); err == nil {
		stored.config = config
	} else if revision, err := strconv.ParseInt(string(secret.Data[contract.PartKeyRevision]), 10, 64); err == nil {
		stored.floor = revision
	}
	return stored
}

// write writes a Config over the version of the Secret that was read, or if there was none: a manager that is no longer the
// leader is refused. It returns contract.ErrTooLarge for one that needs more Secrets than it may have.
func (c *configSecrets) write(ctx context.Context, e *v1alpha1.MCPEndpoint, read storedConfig, config *contract.Config) error {
	defer timeStep("MCPEndpoint", stepWriteConfig)()
	parts, err := contract.Encode(config, configParts)
	if err != nil {
		return err
	}
	if len(parts) != configParts {
		return errors.New("the Config has no part")
	}
	contract.Sign(parts, c.key, contract.Place(e.Namespace, e.ConfigSecretName()))
	want := applycore.Secret(e.ConfigSecretName(), e.Namespace).
		WithLabels(childLabels(e, componentConfig)).
		WithOwnerReferences(ownerReference(e, "MCPEndpoint")).
		WithData(parts[0])
	if read.secret == nil {
		err = c.children.create(ctx, e, want)
	} else {
		err = c.children.applyAsRead(ctx, read.secret, want)
	}
	if err == nil {
		c.written.set(keyOf(e), config.Revision)
	}
	return err
}

// isLabelled reports whether a Config Secret has the labels by which it is found.
func isLabelled(secret *corev1.Secret, e *v1alpha1.MCPEndpoint) bool {
	for key, value := range childLabels(e, componentConfig) {
		if secret.Labels[key] != value {
			return false
		}
	}
	return true
}

// highest is the highest revision that this process wrote.
func (c *configSecrets) highest(endpoint types.NamespacedName) int64 {
	revision, _ := c.written.get(endpoint)
	return revision
}

// forget drops what is remembered about an endpoint that is gone.
func (c *configSecrets) forget(endpoint types.NamespacedName) {
	c.last.forget(endpoint)
	c.written.forget(endpoint)
}

// writeConfig writes the Config if it changed, or if its Secret lost its labels.
func (r *endpointReconciler) writeConfig(ctx context.Context, s *endpointScope) error {
	if s.config == nil || s.configProblem != nil || s.isWritten() && isLabelled(s.stored.secret, s.endpoint) {
		return nil
	}
	err := r.configs.write(ctx, s.endpoint, s.stored, s.config)
	logWrite(ctx, s, err)
	var foreign ownershipConflict
	switch {
	case err == nil:
		return nil
	case errors.As(err, &foreign):
		s.foreignConfig(foreign)
		return nil
	case errors.Is(err, contract.ErrTooLarge):
		s.configProblem = new(fails(v1alpha1.ReasonConfigTooLarge, err.Error()))
		return r.writeRemovals(ctx, s)
	}
	s.configProblem = new(fails(v1alpha1.ReasonConfigNotWritten, "the Config could not be written; it is tried again"))
	return err
}

// logWrite records the result of writing a Config in the log and the metrics.
func logWrite(ctx context.Context, s *endpointScope, err error) {
	log := ctrl.LoggerFrom(ctx).WithValues("endpoint", klog.KObj(s.endpoint), "revision", s.config.Revision)
	var foreign ownershipConflict
	switch {
	case err == nil:
		d := compile.Compare(s.stored.config, s.config)
		log.Info("A Config was written", "added", d.Added, "changed", d.Changed, "removed", d.Removed)
		configWrites.WithLabelValues("written").Inc()
	case errors.As(err, &foreign), apierrors.IsConflict(err):
		log.Info("The write of a Config was refused", "reason", err.Error())
		configWrites.WithLabelValues("refused").Inc()
	case errors.Is(err, contract.ErrTooLarge):
		log.Info("A Config is too large; only what it takes away is written", "reason", err.Error())
		configWrites.WithLabelValues("too_large").Inc()
	default:
		configWrites.WithLabelValues("failed").Inc() // the reconcile's error is logged
	}
}

// writeRemovals is for a wanted Config that is too large. It writes only what that Config takes away, so that a token
// can still be revoked when there are too many.
func (r *endpointReconciler) writeRemovals(ctx context.Context, s *endpointScope) error {
	if s.stored.config == nil || compile.OnlyAdds(s.stored.config, s.config) {
		return nil
	}
	err := r.configs.write(ctx, s.endpoint, s.stored, compile.WithoutAdditions(s.stored.config, s.config))
	if errors.Is(err, contract.ErrTooLarge) {
		return nil
	}
	return err
}
