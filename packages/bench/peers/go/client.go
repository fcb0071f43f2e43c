package main

import (
	"fmt"
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
	"google.golang.org/grpc"
)

// Longer than any server is measured: a session that nobody ends must not lapse in the middle of another's turn.
const sessionSeconds = 24 * 60 * 60

func connect(endpoint string, options ...grpc.DialOption) (*clientv3.Client, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{endpoint},
		DialTimeout: 10 * time.Second,
		DialOptions: append(options, grpc.WithBlock()),
	})
	if err != nil {
		return nil, fmt.Errorf("etcd on %s does not answer: %v", endpoint, err)
	}
	return client, nil
}

func openSession(client *clientv3.Client) (*concurrency.Session, error) {
	return concurrency.NewSession(client, concurrency.WithTTL(sessionSeconds))
}
