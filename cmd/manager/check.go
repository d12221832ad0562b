package main

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

// checkPatience is how long a check waits for an installation that has just begun.
const checkPatience = time.Minute

// check returns what is wrong with an installation: kinds that are missing or old, and a Lease that no manager renews. The
// right to get that Lease is all that it needs.
func check(ctx context.Context, o options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	namespace, err := ownNamespace(o.managerNamespace)
	if err != nil {
		return err
	}
	scheme, err := controllers.NewScheme()
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	err = untilRight(ctx, checkPatience, startPause, func(ctx context.Context) error {
		if err := checkKinds(config); err != nil {
			return err
		}
		return checkLease(ctx, c, namespace, time.Now())
	})
	if err == nil {
		ctrl.Log.Info("The installation works: the kinds have this version, and a manager leads", "namespace", namespace)
	}
	return err
}

// checkLease returns an error if no manager holds the Lease of a namespace, or has not renewed it in time.
func checkLease(ctx context.Context, c client.Client, namespace string, now time.Time) error {
	lease := &coordinationv1.Lease{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: leaseName}, lease); err != nil {
		return fmt.Errorf("no manager leads in namespace %s: %w", namespace, err)
	}
	renewed, duration := lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds
	switch {
	case lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" || renewed == nil || duration == nil:
		return fmt.Errorf("no manager leads in namespace %s: look at the log of the manager's pods", namespace)
	case now.Sub(renewed.Time) > time.Duration(*duration)*time.Second+clockSkew:
		return fmt.Errorf("no manager leads in namespace %s: the last one was silent for %s; look at the log of the manager's pods",
			namespace, now.Sub(renewed.Time).Round(time.Second))
	}
	return nil
}

// clockSkew is how far the clocks of two nodes may be apart.
const clockSkew = 30 * time.Second
