package main

import (
	"context"
	"sync"

	"go.etcd.io/etcd/etcdserver/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

// Counts some answers of the server to a client. It only looks on, so it stands in nobody's way.
type answers struct {
	mutex   sync.Mutex
	changed *sync.Cond
	// Watches that are confirmed, and signs of life that are acknowledged.
	watches, beats int
	err            error
}

func countAnswers() *answers {
	counted := &answers{}
	counted.changed = sync.NewCond(&counted.mutex)
	return counted
}

func (a *answers) option() grpc.DialOption { return grpc.WithStatsHandler(a) }

func (a *answers) HandleRPC(_ context.Context, event stats.RPCStats) {
	received, isMessage := event.(*stats.InPayload)
	if !isMessage {
		return
	}
	switch answer := received.Payload.(type) {
	case *etcdserverpb.WatchResponse:
		if answer.Created {
			a.count(&a.watches)
		}
	case *etcdserverpb.LeaseKeepAliveResponse:
		a.count(&a.beats)
	}
}

func (a *answers) count(what *int) {
	a.mutex.Lock()
	*what++
	a.mutex.Unlock()
	a.changed.Broadcast()
}

// Waits until so many have come, or tells what went wrong meanwhile.
func (a *answers) await(what *int, count int) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for *what < count && a.err == nil {
		a.changed.Wait()
	}
	return a.err
}

func (a *answers) fail(err error) {
	a.mutex.Lock()
	a.err = err
	a.mutex.Unlock()
	a.changed.Broadcast()
}

func (a *answers) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (a *answers) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (a *answers) HandleConn(context.Context, stats.ConnStats) {}
