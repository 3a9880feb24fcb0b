module forkcast

go 1.21
