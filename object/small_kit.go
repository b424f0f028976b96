//go:build !lean

package object

import "context"

func (k *kit) remove(ctx context.Context, key string) error {
	if err := k.bucket.Delete(ctx, key); err != nil {
		return k.fault(err)
	}
	return nil
}
