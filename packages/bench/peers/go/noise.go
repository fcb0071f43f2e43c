package main

import (
	"context"
	"time"
)

const noiseEvery = 2 * time.Millisecond

// Writes that have nothing to do with any lock, from a connection of their own.
func makeNoise(endpoint string) (hush func(), err error) {
	client, err := connect(endpoint)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(client.Ctx())
	go func() {
		ticks := time.NewTicker(noiseEvery)
		defer ticks.Stop()
		for ctx.Err() == nil {
			<-ticks.C
			// Its last write is cut off.
			_, _ = client.Put(ctx, "noise", "")
		}
	}()
	return func() { cancel(); client.Close() }, nil
}
