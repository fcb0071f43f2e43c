package main

import (
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
)

// A server that gets thousands of sorted reads at once lets them time out.
const arriving = 64

type queue struct {
	endpoint, name string
	waiters        int
}

// A line of waiters on one connection, a session each (a session stands in a line only once), that all pass at once.
func drain(p *plan) (result, error) {
	waiters, name := p.number("n", 100, 1), p.text("name", "drain")
	if err := p.firstMistake(); err != nil {
		return nil, err
	}
	if _, err := drainOnce(queue{p.endpoint, name + "-warm", 20}, untold); err != nil {
		return nil, err
	}
	return drainOnce(queue{p.endpoint, name, waiters}, told)
}

func drainOnce(q queue, stage stage) (result, error) {
	answers := countAnswers()
	client, mutexes, err := q.open(answers)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	holder, waiting := mutexes[0], mutexes[1:]
	if err := holder.Lock(client.Ctx()); err != nil {
		return nil, err
	}
	stage("connected")
	arrival := time.Now()
	passing, passed := &passage{}, make(chan error, q.waiters)
	for i, mutex := range waiting {
		if err := answers.await(&answers.watches, i+1-arriving); err != nil {
			return nil, err
		}
		go func(mutex *concurrency.Mutex) {
			err := pass(client, mutex, passing)
			if err != nil {
				answers.fail(err)
			}
			passed <- err
		}(mutex)
	}
	if err := answers.await(&answers.watches, q.waiters); err != nil {
		return nil, err
	}
	enqueue := time.Since(arrival)
	if err := awaitInSync(q.endpoint); err != nil {
		return nil, err
	}
	stage("ready")
	passing.begin(q.waiters)
	if err := holder.Unlock(client.Ctx()); err != nil {
		return nil, err
	}
	for range waiting {
		if err := <-passed; err != nil {
			return nil, err
		}
	}
	return passing.result(enqueue), nil
}

// One more than there are waiters: the first is the holder's.
func (q queue) open(answers *answers) (*clientv3.Client, []*concurrency.Mutex, error) {
	client, err := connect(q.endpoint, answers.option())
	if err != nil {
		return nil, nil, err
	}
	mutexes := make([]*concurrency.Mutex, q.waiters+1)
	for i := range mutexes {
		session, err := openSession(client)
		if err != nil {
			client.Close()
			return nil, nil, err
		}
		mutexes[i] = concurrency.NewMutex(session, q.name)
	}
	// The first signs of life leave up to half a second late: among those who queue, they would count as theirs.
	return client, mutexes, answers.await(&answers.beats, len(mutexes))
}

func pass(client *clientv3.Client, mutex *concurrency.Mutex, passing *passage) error {
	if err := mutex.Lock(client.Ctx()); err != nil {
		return err
	}
	passing.pass()
	return mutex.Unlock(client.Ctx())
}
