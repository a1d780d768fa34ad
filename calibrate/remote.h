/* calibrate/remote.h - a forwarder for the few calls that the remote probe uses, over TCP on this
 * host: the least that any pooled card must do, without a network. The server is a worker process
 * (worker.h), which alone touches the card; it also times the same calls natively, so that both
 * sides of a comparison are of one process and one context. Native byte order: both ends are one
 * machine. Errors: 0 or ERR_IO. Threads: one. Blocking: everything. */
#ifndef GPUSIM_CALIBRATE_REMOTE_H
#define GPUSIM_CALIBRATE_REMOTE_H

#include "calibrate/device.h"

#include <stdio.h>

/* The server: says "remote PORT", serves one connection until it is closed. */
int remote_serve(struct device *d, FILE *to, struct err *e);

/* The client. Negative: no connection. */
int remote_connect(int port, struct err *e);
/* Seconds for n launches without an answer and one wait with one, over the connection; and
 * natively. */
int remote_batch(int fd, unsigned n, double *seconds, struct err *e);
int remote_native(int fd, unsigned n, double *seconds, struct err *e);
/* Seconds until so many MiB are on the card. */
int remote_upload(int fd, unsigned MiB, double *seconds, struct err *e);

#endif
