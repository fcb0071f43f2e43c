package main

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
	"go.etcd.io/etcd/etcdserver/api/v3lock/v3lockpb"
	"go.etcd.io/etcd/etcdserver/etcdserverpb"
)

func (p *participant) newRecipe() recipe {
	switch p.recipe {
	case "mutex":
		return &mutex{concurrency.NewMutex(p.session, p.name)}
	case "election":
		return &election{concurrency.NewElection(p.session, p.name), p.id}
	case "v3lock":
		return &service{p: p}
	case "trylock":
		return &visitor{p: p}
	}
	panic(fmt.Sprintf("RECIPE: %q is none of mutex, election, v3lock, trylock, etcdctl, observe", p.recipe))
}

type mutex struct{ it *concurrency.Mutex }

func (m *mutex) enter(ctx context.Context) (int64, error) {
	if err := m.it.Lock(ctx); err != nil {
		return 0, err
	}
	isOwner := m.it.IsOwner()
	return createRevision(isOwner), nil
}

func (m *mutex) leave(ctx context.Context) error { return m.it.Unlock(ctx) }

func (m *mutex) key() string { return m.it.Key() }

type election struct {
	it    *concurrency.Election
	value string
}

func (e *election) enter(ctx context.Context) (int64, error) {
	err := e.it.Campaign(ctx, e.value)
	return e.it.Rev(), err
}

func (e *election) leave(ctx context.Context) error { return e.it.Resign(ctx) }

func (e *election) key() string { return e.it.Key() }

// The v3lock service: the server waits on behalf of this lease.
type service struct {
	p    *participant
	held []byte
}

func (s *service) lock() v3lockpb.LockClient {
	return v3lockpb.NewLockClient(s.p.client.ActiveConnection())
}

func (s *service) enter(ctx context.Context) (int64, error) {
	request := &v3lockpb.LockRequest{Name: []byte(s.p.name), Lease: int64(s.p.session.Lease())}
	answer, err := s.lock().Lock(ctx, request)
	if err != nil {
		return 0, err
	}
	s.held = answer.Key
	found, err := s.p.client.Get(ctx, s.key())
	if err != nil {
		return 0, err
	}
	if len(found.Kvs) == 0 {
		return 0, fmt.Errorf("session is expired")
	}
	return found.Kvs[0].CreateRevision, nil
}

func (s *service) leave(ctx context.Context) error {
	_, err := s.lock().Unlock(ctx, &v3lockpb.UnlockRequest{Key: s.held})
	return err
}

func (s *service) key() string { return string(s.held) }

// Does as TryLock of later versions: puts its key, looks who is first, and takes it away again if that is somebody else.
type visitor struct{ p *participant }

func (v *visitor) enter(ctx context.Context) (int64, error) {
	isNew := clientv3.Compare(clientv3.CreateRevision(v.key()), "=", 0)
	put := clientv3.OpPut(v.key(), "", clientv3.WithLease(v.p.session.Lease()))
	first := clientv3.OpGet(v.p.name+"/", clientv3.WithFirstCreate()...)
	answer, err := v.p.client.Txn(ctx).If(isNew).Then(put, first).Commit()
	if err != nil {
		return 0, err
	}
	if !answer.Succeeded {
		return 0, fmt.Errorf("%s is there already", v.key())
	}
	ahead := answer.Responses[1].GetResponseRange().Kvs
	if len(ahead) == 0 || ahead[0].CreateRevision == answer.Header.Revision {
		return answer.Header.Revision, nil
	}
	if err := v.leave(ctx); err != nil {
		return 0, err
	}
	return 0, errBusy
}

func (v *visitor) leave(ctx context.Context) error {
	_, err := v.p.client.Delete(ctx, v.key())
	return err
}

func (v *visitor) key() string { return fmt.Sprintf("%s/%x", v.p.name, v.p.session.Lease()) }

func createRevision(comparison clientv3.Cmp) int64 {
	return (*etcdserverpb.Compare)(&comparison).GetCreateRevision()
}
