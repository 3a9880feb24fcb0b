//! Growth curves of forkcast; see the README beside this file.
